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

// One without a name is none: it could be told from no other.
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

}  // namespace stepscope::analysis
