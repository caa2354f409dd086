#pragma once

#include <algorithm>
#include <string_view>

#include "analysis/analysis.h"
#include "base/table.h"

namespace stepscope::analysis {

// Of an answer: the table of this name, nothing where it has none.
inline const base::Table* table_of(const Answer& answer, std::string_view name) {
  const auto found = std::ranges::find(answer.tables, name, &base::Table::name);
  return found == answer.tables.end() ? nullptr : &*found;
}

}  // namespace stepscope::analysis
