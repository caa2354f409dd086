// Events in the order in which the file that was read had them.
#include <algorithm>
#include <numeric>

#include "emit/output.h"

namespace stepscope::emit {

FileOrder::FileOrder(const trace::Trace& trace)
    : rows_(trace.entries()), flow_ordinal_(trace.flows().ordinal.span()) {
  const auto ordinal = trace.ordinal();
  for (trace::Row row = 0; row < ordinal.size(); ++row) rows_[ordinal[row]] = row + 1;
  flows_.resize(flow_ordinal_.size());
  std::iota(flows_.begin(), flows_.end(), 0U);
  const auto earlier = [&](std::uint32_t a, std::uint32_t b) {
    return flow_ordinal_[a] < flow_ordinal_[b];
  };
  if (!std::is_sorted(flows_.begin(), flows_.end(), earlier)) {
    std::sort(flows_.begin(), flows_.end(), earlier);
  }
}

}  // namespace stepscope::emit
