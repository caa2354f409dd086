// Finds calls of convolutions that tried out algorithms.
#include "analysis/operators/algorithm_searches.h"

#include <algorithm>
#include <compare>
#include <map>
#include <string>
#include <utility>

#include "analysis/costs/call_costs.h"
#include "analysis/name_sign.h"
#include "analysis/operators/op_calls.h"
#include "base/ascii.h"

namespace stepscope::analysis {
namespace {

bool names_convolution(std::string_view name) {
  const std::string small = base::lowered(name);
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
  const OpCalls& ops = op_calls(window);
  NameSign convolves(trace, names_convolution);
  // The outermost convolution around a call, itself included.
  const auto root_of = [&](std::uint32_t call) {
    std::uint32_t root = OpCall::kNone;
    for (; call != OpCall::kNone; call = ops.calls[call].parent) {
      if (convolves.matches_row(ops.calls[call].row)) root = call;
    }
    return root;
  };
  // Compute kernels by the convolution that started them; those of one by their start.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> owned;
  for (std::uint32_t i = 0; i < window.work.size(); ++i) {
    const Work& piece = window.work[i];
    if (piece.work_class != WorkClass::kCompute || !window.counts(piece)) continue;
    const std::uint32_t root = root_of(ops.of_work[i]);
    if (root != OpCall::kNone) owned.emplace_back(root, i);
  }
  std::ranges::sort(owned);
  Searches out;
  std::vector<CallLook> looks;  // of those in the list
  for (std::size_t begin = 0, end = 0; begin < owned.size(); begin = end) {
    const trace::Row row = ops.calls[owned[begin].first].row;
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
