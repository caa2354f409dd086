#include "advice/means.h"

#include <numeric>

namespace stepscope::advice {

std::optional<double> mean_of(const Facts& facts, std::string_view analysis, std::string_view table,
                              std::int32_t rank, std::string_view column) {
  double sum = 0;
  double rows = 0;
  for (const Line& line : facts.lines(analysis, table, rank)) {
    if (!line.has(column)) continue;
    sum += line.number(column);
    ++rows;
  }
  return rows > 0 ? std::optional(sum / rows) : std::nullopt;
}

Sample sample_of(std::span<const double> values) {
  Sample out{.count = static_cast<double>(values.size())};
  out.mean = std::accumulate(values.begin(), values.end(), 0.0) / out.count;
  for (const double one : values) out.variance += (one - out.mean) * (one - out.mean);
  out.variance /= out.count - 1;
  return out;
}

}  // namespace stepscope::advice
