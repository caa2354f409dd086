// What there is to know about an analysis without running it, printed from its row.
#pragma once

#include <string>

#include "analysis/analysis.h"
#include "report/writing/text_table.h"

namespace stepscope::report {

// Name and question of every analysis.
std::string analyses_text(const Look& look);

// "stepscope.analyses/1": every analysis with parameters, tables and columns.
std::string analyses_json();

// The question, the parameters with defaults and units, the tables and their columns.
std::string analysis_help(const analysis::Analysis& about, const Look& look);

// How help calls the value of a parameter: N, TIME, SHARE; empty for a switch.
std::string_view value_name(analysis::ParameterType type);

}  // namespace stepscope::report
