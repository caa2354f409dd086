#include "analysis/operators/op_times.h"

#include <algorithm>
#include <limits>

namespace stepscope::analysis {
namespace {

using base::Nanos;
using trace::Row;

// Time of the callers that their callees have taken so far. Callees come by start, so what those of
// one caller cover together is found with one cursor each, and callees that overlap or outlive
// their caller take no more than is there.
class Taken {
 public:
  Taken(const trace::Trace& trace, const OpCalls& calls)
      : trace_(trace), calls_(calls), until_(calls.calls.size()) {
    begin();
  }
  void begin() { std::ranges::fill(until_.span(), std::numeric_limits<Nanos>::min()); }

  Nanos take(std::uint32_t caller, Row callee) {
    const Row around = calls_.calls[caller].row;
    const Nanos start = std::max({trace_.start()[callee], trace_.start()[around], until_[caller]});
    const Nanos end = std::min(trace_.end(callee), trace_.end(around));
    if (end <= start) return 0;
    until_[caller] = end;
    return end - start;
  }

 private:
  const trace::Trace& trace_;
  const OpCalls& calls_;
  base::Column<Nanos> until_;
};

// The operator around a row, or kNone.
std::uint32_t operator_around(const trace::Trace& trace, const OpCalls& calls, Row row) {
  do row = trace.parent()[row];
  while (row != trace::kNoRow && !calls.rows.contains(row));
  return row == trace::kNoRow ? OpCall::kNone : calls.rows.rank(row);
}

}  // namespace

OpHostTimes op_host_times(const trace::Trace& trace, const OpCalls& calls) {
  const std::size_t count = calls.calls.size();
  OpHostTimes out{base::Column<Nanos>(count), base::Column<Nanos>(count)};
  Taken taken(trace, calls);
  for (std::size_t i = 0; i < count; ++i) {
    const OpCall& call = calls.calls[i];
    out.self[i] += trace.duration()[call.row];
    if (call.parent != OpCall::kNone) out.self[call.parent] -= taken.take(call.parent, call.row);
  }
  taken.begin();
  for (Row row = 0; row < trace.size(); ++row) {
    if (!trace::is_api_call(trace.kind()[row])) continue;
    const Row parent = trace.parent()[row];
    // Of calls inside each other the outer one counts.
    if (parent == trace::kNoRow || trace::is_api_call(trace.kind()[parent])) continue;
    const std::uint32_t caller = operator_around(trace, calls, row);
    if (caller != OpCall::kNone) out.runtime[caller] += taken.take(caller, row);
  }
  for (std::size_t i = 0; i < count; ++i) out.runtime[i] = std::min(out.runtime[i], out.self[i]);
  return out;
}

std::vector<bool> outermost(const OpCalls& calls, std::span<const std::uint32_t> key,
                            std::size_t keys) {
  std::vector<bool> out(calls.calls.size());
  std::vector<std::uint32_t> open(keys);  // by key: calls on the stack
  std::vector<std::uint32_t> stack;
  for (std::uint32_t i = 0; i < calls.calls.size(); ++i) {
    const std::uint32_t parent = calls.calls[i].parent;
    while (!stack.empty() && stack.back() != parent) {
      --open[key[stack.back()]];
      stack.pop_back();
    }
    // A frame that names its caller by id may come after it was left: its callers again.
    if (stack.empty()) {
      for (std::uint32_t at = parent; at != OpCall::kNone; at = calls.calls[at].parent) {
        stack.push_back(at);
        ++open[key[at]];
      }
      std::ranges::reverse(stack);
    }
    out[i] = open[key[i]]++ == 0;
    stack.push_back(i);
  }
  return out;
}

}  // namespace stepscope::analysis
