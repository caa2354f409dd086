#include "analysis/operators/op_times.h"

#include <algorithm>
#include <array>
#include <limits>
#include <tuple>

namespace stepscope::analysis {
namespace {

using base::Nanos;
using trace::Kind;
using trace::Row;

// One without a name is none: it could be told from no other.
bool is_operator(const trace::Trace& trace, Row row) {
  return trace.kind()[row] == Kind::kCpuOp && trace.phase()[row] == trace::Phase::kSpan &&
         (trace.flags()[row] & trace::kFarTime) == 0 && trace.name()[row] != base::kNoString;
}

// Time of one caller that its callees have taken so far. They come by start, so what they cover
// together is found with one cursor, and callees that overlap or outlive the caller take no more
// than is there.
struct Taken {
  Nanos until = std::numeric_limits<Nanos>::min();
  Nanos take(const trace::Trace& trace, Row caller, Row callee) {
    const Nanos start = std::max({trace.start()[callee], trace.start()[caller], until});
    const Nanos end = std::min(trace.end(callee), trace.end(caller));
    if (end <= start) return 0;
    until = end;
    return end - start;
  }
};

// Calls with their host times, parents by the call tree.
void add_host(const WindowView& window, OpTimes& times) {
  const trace::Trace& trace = *window.trace;
  times.rows = base::RowSet(trace.size());
  for (Row row = 0; row < trace.size(); ++row) {
    if (is_operator(trace, row)) times.rows.add(row);
  }
  times.rows.seal();
  times.calls.resize(times.rows.size());

  struct TakenBy {
    Taken operators, runtime;
  };
  std::vector<TakenBy> taken(times.calls.size());
  // The operator that each row is, or that is around it.
  std::vector<std::uint32_t> inside(trace.size(), OpCall::kNone);
  std::uint32_t next = 0;
  for (Row row = 0; row < trace.size(); ++row) {
    const Row parent = trace.parent()[row];
    const std::uint32_t caller = parent == trace::kNoRow ? OpCall::kNone : inside[parent];
    inside[row] = caller;
    if (times.rows.contains(row)) {
      inside[row] = next;
      OpCall& call = times.calls[next++];
      call.row = row;
      call.parent = caller;
      call.host_total = call.host_self = trace.duration()[row];
      call.counted = window.counts_at(trace.start()[row]);
      if (caller != OpCall::kNone) {
        OpCall& above = times.calls[caller];
        above.host_self -= taken[caller].operators.take(trace, above.row, row);
      }
    } else if (caller != OpCall::kNone && is_api_call(trace.kind()[row]) &&
               !is_api_call(trace.kind()[parent])) {
      OpCall& above = times.calls[caller];
      above.runtime += taken[caller].runtime.take(trace, above.row, row);
    }
  }
  for (OpCall& call : times.calls) call.runtime = std::min(call.runtime, call.host_self);
}

// Operators by the id that device work carries; for work whose launch is not in the trace.
class ByExternalId {
 public:
  ByExternalId(const trace::Trace& trace, const OpTimes& times) {
    const trace::OpTable& ops = trace.ops();
    ops.rows.for_each([&](Row row, std::uint32_t entry) {
      const std::uint32_t call = times.find(row);
      if (call == OpCall::kNone || ops.external_id[entry] <= 0) return;
      ids_.emplace_back(ops.external_id[entry], trace.start()[row], call);
    });
    std::ranges::sort(ids_);
  }
  // The latest one that had begun when the work began.
  std::uint32_t find(std::int64_t id, Nanos work_start) const {
    const auto after =
        std::ranges::upper_bound(ids_, Item{id, work_start, std::numeric_limits<Row>::max()});
    if (after == ids_.begin()) return OpCall::kNone;
    const auto& [found, start, call] = *(after - 1);
    return found == id ? call : OpCall::kNone;
  }

 private:
  using Item = std::tuple<std::int64_t, Nanos, std::uint32_t>;
  std::vector<Item> ids_;
};

void link_work(const WindowView& window, OpTimes& times) {
  const trace::Trace& trace = *window.trace;
  const trace::LaunchTable& launches = trace.launches();
  times.call_of_work.assign(window.work.size(), OpCall::kNone);
  std::vector<std::pair<std::size_t, std::int64_t>> by_id;
  for (std::size_t i = 0; i < window.work.size(); ++i) {
    const Work& piece = window.work[i];
    if (piece.launch != trace::kNoRow) {
      const Row op = launches.op[launches.rows.rank(piece.launch)];
      if (op != trace::kNoRow) times.call_of_work[i] = times.find(op);
      continue;
    }
    const std::uint32_t entry = trace.device().rows.find(piece.row);
    if (entry == base::RowSet::kNone) continue;
    const std::int64_t id = trace.device().external_id[entry];
    if (id > 0) by_id.emplace_back(i, id);
  }
  if (by_id.empty()) return;
  const ByExternalId ops(trace, times);
  for (const auto& [i, id] : by_id) times.call_of_work[i] = ops.find(id, window.work[i].start);
}

void add_device(const WindowView& window, OpTimes& times) {
  for (std::size_t i = 0; i < window.work.size(); ++i) {
    const std::uint32_t call = times.call_of_work[i];
    if (call == OpCall::kNone || !window.counts(window.work[i])) continue;
    times.calls[call].device_self += window.work[i].length();
  }
  for (std::size_t i = times.calls.size(); i-- > 0;) {
    OpCall& call = times.calls[i];
    call.device_total += call.device_self;
    if (call.parent != OpCall::kNone) times.calls[call.parent].device_total += call.device_total;
  }
}

constexpr std::array<std::string_view, kNoOperators> kNames = {"(graph launch)", "(no operator)",
                                                               "(launch not recorded)"};

}  // namespace

const OpTimes& op_times(const WindowView& window) {
  return window.op_times->get([&] {
    OpTimes times;
    add_host(window, times);
    link_work(window, times);
    add_device(window, times);
    return times;
  });
}

std::string_view name_of(NoOperator why) { return kNames[static_cast<std::size_t>(why)]; }

NoOperator why_no_operator(const WindowView& window, const Work& piece) {
  if (piece.launch == trace::kNoRow) return NoOperator::kNotRecorded;
  const bool graph =
      window.trace->name_text(piece.launch).find("GraphLaunch") != std::string_view::npos;
  return graph ? NoOperator::kGraph : NoOperator::kOutside;
}

std::vector<bool> outermost(const OpTimes& times, std::span<const std::uint32_t> key,
                            std::size_t keys) {
  std::vector<bool> out(times.calls.size());
  std::vector<std::uint32_t> open(keys);  // by key: calls on the stack
  std::vector<std::uint32_t> stack;
  for (std::uint32_t i = 0; i < times.calls.size(); ++i) {
    const std::uint32_t parent = times.calls[i].parent;
    while (!stack.empty() && stack.back() != parent) {
      --open[key[stack.back()]];
      stack.pop_back();
    }
    // A frame that names its caller by id may come after it was left: its callers again.
    if (stack.empty()) {
      for (std::uint32_t at = parent; at != OpCall::kNone; at = times.calls[at].parent) {
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
