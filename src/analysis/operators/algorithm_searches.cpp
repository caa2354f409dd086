#include "analysis/operators/algorithm_searches.h"

#include <algorithm>
#include <cctype>
#include <compare>
#include <map>
#include <string>
#include <utility>

#include "analysis/costs/call_costs.h"
#include "analysis/operators/op_times.h"

namespace stepscope::analysis {
namespace {

bool names_convolution(std::string_view name) {
  std::string small(name);
  std::ranges::transform(small, small.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return small.find("conv") != std::string::npos && !small.starts_with("autograd::engine");
}

// What two calls of one convolution have in common.
struct CallLook {
  std::int32_t device = -1;
  std::string_view name;
  std::string inputs;                   // sizes; empty: not recorded
  std::vector<base::StringId> kernels;  // sorted, with all repetitions
  auto operator<=>(const CallLook&) const = default;
};

std::string_view row_name(const trace::Trace& trace, trace::Row row) {
  return trace.text(trace.name()[row]);
}

// What a search has found is kept for its shape. The same kernels for the same shape again are no
// second search, but an algorithm of many kernels: by Fourier transforms, or piece by piece.
void leave_out_repeated(std::vector<AlgorithmSearch>& list, const std::vector<CallLook>& looks) {
  std::map<CallLook, int> seen;
  for (const CallLook& look : looks) ++seen[look];
  std::size_t place = 0;
  std::erase_if(list, [&](const AlgorithmSearch&) { return seen.at(looks[place++]) > 1; });
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
  std::vector<CallLook> looks;  // of those in the list
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
    CallLook look{window.streams[window.work[owned[begin].second].stream].device,
                  row_name(trace, row),
                  {},
                  names};
    found.kinds = std::ranges::unique(names).begin() - names.begin();
    if (found.kernels < limits.kernels || found.kinds < limits.kinds) continue;
    look.inputs = shape_text(inputs_of(trace, row));
    out.list.push_back(found);
    looks.push_back(std::move(look));
  }
  leave_out_repeated(out.list, looks);
  return out;
}

}  // namespace stepscope::analysis
