#include "report/tables/tree_rows.h"

#include <algorithm>

namespace stepscope::report {

std::vector<std::size_t> indents(const base::Table& table, std::size_t column) {
  constexpr std::size_t kStep = 2;
  constexpr std::size_t kMost = 24;  // names need room too
  const base::Drawing& drawing = table.shape().drawing;
  const auto depth = table.find("depth");
  if (drawing.chart != base::Chart::kTree || !depth) return {};
  if (table.shape().columns[column].name != drawing.x) return {};
  std::vector<std::size_t> spaces;
  std::int64_t above = -1;
  for (std::size_t r = 0; r < table.rows(); ++r) {
    const std::int64_t level = table.int_at(*depth, r);
    // A row further in than one level stands below a row that is not there.
    if (level < 0 || level > above + 1) return {};
    spaces.push_back(std::min(static_cast<std::size_t>(level) * kStep, kMost));
    above = level;
  }
  return spaces;
}

}  // namespace stepscope::report
