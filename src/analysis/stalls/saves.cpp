#include "analysis/stalls/saves.h"

#include <algorithm>
#include <utility>

#include "analysis/arithmetic/sorted_runs.h"
#include "analysis/device/copies.h"

namespace stepscope::analysis {
namespace {

constexpr std::size_t kLeastCopies = 8;
constexpr base::Bytes kLeastBytes = std::int64_t{64} << 20;

bool is_download(const trace::Trace& trace, const Work& piece) {
  return piece.work_class == WorkClass::kCopy &&
         copy_name(trace.name_text(piece.row)).kind == "DtoH";
}

}  // namespace

std::vector<bool> saved_pieces(const WindowView& window) {
  const trace::Trace& trace = *window.trace;
  std::vector<bool> out(window.work.size());
  for (const DeviceView& device : window.devices) {
    // In the order in which the host asked for them: other work may still run meanwhile.
    std::vector<std::pair<base::Nanos, std::uint32_t>> order;
    for (std::size_t i = device.begin; i < device.end; ++i) {
      const trace::Row call = window.work[i].launch;
      if (call == trace::kNoRow) continue;
      order.emplace_back(trace.start()[call], static_cast<std::uint32_t>(i));
    }
    sort_runs(order, [](const auto& a, const auto& b) { return a.first < b.first; });
    for (std::size_t first = 0; first < order.size();) {
      std::size_t last = first;
      base::Bytes bytes = 0;
      for (; last < order.size() && is_download(trace, window.work[order[last].second]); ++last) {
        bytes += bytes_of(trace, window.work[order[last].second].row).value_or(0);
      }
      if (last - first >= kLeastCopies && bytes >= kLeastBytes) {
        for (std::size_t i = first; i < last; ++i) out[order[i].second] = true;
      }
      first = std::max(last, first + 1);
    }
  }
  return out;
}

}  // namespace stepscope::analysis
