#include "analysis/stalls/saves.h"

#include <algorithm>
#include <tuple>

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
    std::vector<std::uint32_t> order;
    for (std::size_t i = device.begin; i < device.end; ++i) {
      if (window.work[i].launch != trace::kNoRow) order.push_back(static_cast<std::uint32_t>(i));
    }
    std::ranges::stable_sort(order, {},
                             [&](std::uint32_t i) { return trace.start()[window.work[i].launch]; });
    for (std::size_t first = 0; first < order.size();) {
      std::size_t last = first;
      base::Bytes bytes = 0;
      for (; last < order.size() && is_download(trace, window.work[order[last]]); ++last) {
        bytes += bytes_of(trace, window.work[order[last]].row).value_or(0);
      }
      if (last - first >= kLeastCopies && bytes >= kLeastBytes) {
        for (std::size_t i = first; i < last; ++i) out[order[i]] = true;
      }
      first = std::max(last, first + 1);
    }
  }
  return out;
}

}  // namespace stepscope::analysis
