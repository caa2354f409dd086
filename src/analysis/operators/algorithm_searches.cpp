#include "analysis/operators/algorithm_searches.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <utility>

#include "analysis/operators/op_times.h"

namespace stepscope::analysis {
namespace {

bool names_convolution(std::string_view name) {
  std::string small(name);
  std::ranges::transform(small, small.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return small.find("conv") != std::string::npos && !small.starts_with("autograd::engine");
}

}  // namespace

Searches searches_of(const WindowView& window, const SearchLimits& limits) {
  const trace::Trace& trace = *window.trace;
  const OpTimes& times = op_times(window);
  // Of every call the outermost convolution around it.
  std::vector<std::uint32_t> root(times.calls.size(), OpCall::kNone);
  std::vector<std::uint8_t> asked(trace.strings().size());  // by name: 1 no, 2 yes
  for (std::uint32_t i = 0; i < root.size(); ++i) {
    const OpCall& call = times.calls[i];
    if (call.parent < i) root[i] = root[call.parent];
    if (root[i] != OpCall::kNone) continue;
    const base::StringId name = trace.name()[call.row];
    if (name >= asked.size()) continue;
    if (asked[name] == 0) asked[name] = names_convolution(trace.text(name)) ? 2 : 1;
    if (asked[name] == 2) root[i] = i;
  }
  // Compute kernels by the convolution that started them; those of one by their start.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> owned;
  for (std::uint32_t i = 0; i < window.work.size(); ++i) {
    const Work& piece = window.work[i];
    const std::uint32_t call = times.call_of_work[i];
    if (piece.work_class != WorkClass::kCompute || !window.counts(piece)) continue;
    if (call != OpCall::kNone && root[call] != OpCall::kNone) owned.emplace_back(root[call], i);
  }
  std::ranges::sort(owned);
  Searches out;
  for (std::size_t begin = 0, end = 0; begin < owned.size(); begin = end) {
    const trace::Row row = times.calls[owned[begin].first].row;
    AlgorithmSearch found{.window = &window, .row = row};
    std::vector<base::StringId> names;
    base::Nanos first = window.work[owned[begin].second].start;
    base::Nanos last = trace.end(row);
    for (; end < owned.size() && owned[end].first == owned[begin].first; ++end) {
      const Work& piece = window.work[owned[end].second];
      names.push_back(trace.name()[piece.row]);
      found.device += piece.length();
      first = std::min(first, piece.start);
      last = std::max(last, piece.end);
    }
    ++out.calls;
    found.kernels = static_cast<std::int64_t>(names.size());
    found.span = last - first;
    std::ranges::sort(names);
    found.kinds = std::ranges::unique(names).begin() - names.begin();
    if (found.kernels >= limits.kernels && found.kinds >= limits.kinds) out.list.push_back(found);
  }
  return out;
}

}  // namespace stepscope::analysis
