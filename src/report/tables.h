// Answers as text for people and for machines, all made from the shapes of their tables.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "analysis/analysis.h"
#include "base/table.h"

namespace stepscope::report {

// RFC 4180 with a line of column names, full precision, empty for null.
std::string table_csv(const base::Table& table);

// Schema stepscope.analysis/1: {"schema", "analysis", "remarks", "tables": {name: [row, ...]}}, a
// row being an object by column name.
std::string answer_json(const analysis::Analysis& about, const analysis::Answer& answer);

}  // namespace stepscope::report
