// Finds the operator calls of a window, how they nest, and the work each launched.
#include "analysis/operators/op_calls.h"

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <tuple>

#include "analysis/prepared.h"

namespace stepscope::analysis {
namespace {

using base::Nanos;
using trace::Kind;
using trace::Row;

// One without a name is none: it would look like any other.
bool is_operator_in_op_calls(const trace::Trace& trace, Row row) {
  return trace.kind()[row] == Kind::kCpuOp && trace.phase()[row] == trace::Phase::kSpan &&
         (trace.flags()[row] & trace::kFarTime) == 0 && trace.name()[row] != base::kNoString &&
         !trace.name_text(row).empty();
}

void find_calls(const trace::Trace& trace, OpCalls& out) {
  out.rows = base::RowSet(trace.size());
  out.calls.reserve(static_cast<std::size_t>(std::ranges::count(trace.kind(), Kind::kCpuOp)));
  // The operator that each row is, or that is around it; a parent stands before its children.
  const auto inside = std::make_unique_for_overwrite<std::uint32_t[]>(trace.size());
  for (Row row = 0; row < trace.size(); ++row) {
    const Row parent = trace.parent()[row];
    inside[row] = parent == trace::kNoRow ? OpCall::kNone : inside[parent];
    if (!is_operator_in_op_calls(trace, row)) continue;
    out.rows.add(row);
    out.calls.push_back({row, inside[row]});
    inside[row] = static_cast<std::uint32_t>(out.calls.size() - 1);
  }
  out.rows.seal();
}

// Operators by the id that device work carries; for work whose launch is not in the trace.
class ByExternalId {
 public:
  ByExternalId(const trace::Trace& trace, const OpCalls& calls) {
    const trace::OpTable& ops = trace.ops();
    ops.rows.for_each([&](Row row, std::uint32_t entry) {
      const std::uint32_t call = calls.find(row);
      if (call == OpCall::kNone || !trace::says_anything(ops.external_id[entry])) return;
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

void link_work(const WindowView& window, OpCalls& calls) {
  const trace::Trace& trace = *window.trace;
  const trace::LaunchTable& launches = trace.launches();
  calls.of_work.assign(window.work.size(), OpCall::kNone);
  std::vector<std::pair<std::size_t, std::int64_t>> by_id;
  for (std::size_t i = 0; i < window.work.size(); ++i) {
    const Work& piece = window.work[i];
    if (piece.launch != trace::kNoRow) {
      const Row op = launches.op[launches.rows.rank(piece.launch)];
      if (op != trace::kNoRow) calls.of_work[i] = calls.find(op);
      continue;
    }
    const std::uint32_t entry = trace.device().rows.find(piece.row);
    if (entry == base::RowSet::kNone) continue;
    const std::int64_t id = trace.device().external_id[entry];
    if (trace::says_anything(id)) by_id.emplace_back(i, id);
  }
  if (by_id.empty()) return;
  const ByExternalId ops(trace, calls);
  for (const auto& [i, id] : by_id) calls.of_work[i] = ops.find(id, window.work[i].start);
}

constexpr std::array<std::string_view, kNoOperators> kOpCallsNames = {
    "(graph launch)", "(no operator)", "(launch not recorded)"};

}  // namespace

const OpCalls& op_calls(const WindowView& window) {
  return window.prepared->op_calls.get([&] {
    OpCalls calls;
    find_calls(*window.trace, calls);
    link_work(window, calls);
    return calls;
  });
}

std::string_view name_of(NoOperator why) { return kOpCallsNames[static_cast<std::size_t>(why)]; }

NoOperator why_no_operator(const WindowView& window, const Work& piece) {
  if (piece.launch == trace::kNoRow) return NoOperator::kNotRecorded;
  const bool graph =
      window.trace->name_text(piece.launch).find("GraphLaunch") != std::string_view::npos;
  return graph ? NoOperator::kGraph : NoOperator::kOutside;
}

namespace {

using trace::Row;

// Calls of one thread that run, the innermost last. Both calls and marks come by start.
class Running {
 public:
  explicit Running(const trace::Trace& trace) : trace_(trace) {}

  void clear() { open_.clear(); }
  void begin(const OpCall& call, std::uint32_t number) {
    // One that ends now is over for its followers, but what happens now is still its own.
    const base::Nanos now = trace_.start()[call.row];
    while (!open_.empty() && open_.back().end <= now) open_.pop_back();
    open_.push_back({trace_.end(call.row), number});
  }
  std::uint32_t at(base::Nanos now) {
    while (!open_.empty() && open_.back().end < now) open_.pop_back();
    return open_.empty() ? OpCall::kNone : open_.back().call;
  }

 private:
  struct Open {
    base::Nanos end;
    std::uint32_t call;
  };
  const trace::Trace& trace_;
  std::vector<Open> open_;
};

OpMarks find_marks(const trace::Trace& trace, const OpCalls& calls) {
  OpMarks out;
  const base::RowSet& marks = trace.memory_events().rows;
  if (marks.size() == 0) return out;
  out.call.reserve(marks.size());
  Running running(trace);
  std::uint32_t next = 0;  // of the calls
  std::uint32_t track = 0xffffffff;
  marks.for_each([&](Row row, std::uint32_t) {
    if (trace.track()[row] != track) {
      track = trace.track()[row];
      running.clear();
      const Row first = trace.tracks()[track].begin;
      while (next < calls.calls.size() && calls.calls[next].row < first) ++next;
    }
    for (; next < calls.calls.size() && calls.calls[next].row < row; ++next) {
      running.begin(calls.calls[next], next);
    }
    out.call.push_back(running.at(trace.start()[row]));
  });
  return out;
}

}  // namespace

const OpMarks& op_marks(const WindowView& window) {
  return window.prepared->op_marks.get([&] { return find_marks(*window.trace, op_calls(window)); });
}

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
