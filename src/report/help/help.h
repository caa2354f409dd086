// What there is to know about an analysis without running it, printed from its row.
#pragma once

#include <span>
#include <string>
#include <string_view>

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

// The words the reports use, for people who are no experts in GPUs.

struct Word {
  std::string_view word, meaning;
};
std::span<const Word> glossary();  // in alphabetical order

std::string glossary_text(const Look& look);

// A page of docs/advice on a terminal.

// Headings, paragraphs and code; links as their words. Its first line, the title, is left out.
std::string rule_page_text(std::string_view markdown, const Look& look);

}  // namespace stepscope::report
