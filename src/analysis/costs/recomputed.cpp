#include "analysis/costs/recomputed.h"

#include <array>
#include <cstdint>
#include <string_view>

#include "analysis/name_sign.h"

namespace stepscope::analysis {
namespace {

using trace::Row;

// Rows inside the hook with which checkpointing (use_reentrant=False) runs a forward pass again;
// it is a Python frame, so only traces with stacks show it.
std::vector<bool> inside_hooks(const trace::Trace& trace) {
  std::vector<bool> hooks(trace.strings().size());
  bool any = false;
  for (std::size_t id = 0; id < hooks.size(); ++id) {
    const std::string_view name = trace.text(static_cast<base::StringId>(id));
    hooks[id] = name.starts_with("torch/utils/checkpoint.py") && name.ends_with(": unpack_hook");
    any = any || hooks[id];
  }
  if (!any) return {};
  std::vector<bool> inside(trace.size());
  for (Row row = 0; row < trace.size(); ++row) {
    const base::StringId name = trace.name()[row];
    const Row parent = trace.parent()[row];
    inside[row] = (name < hooks.size() && hooks[name]) || (parent < row && inside[parent]);
  }
  return inside;
}

// Operators that autograd never records, whatever the mode: they say nothing about it.
bool is_never_recorded(std::string_view name) {
  static constexpr std::array<std::string_view, 4> kBeginnings = {"aten::empty", "aten::detach",
                                                                  "aten::zeros", "aten::ones"};
  for (const std::string_view beginning : kBeginnings) {
    if (name.starts_with(beginning)) return true;
  }
  return !name.starts_with("aten::");
}

bool names_announcement(std::string_view name) {
  return name.starts_with("autograd::engine::evaluate_function");
}

}  // namespace

class RecomputedCalls::Finding {
 public:
  Finding(const trace::Trace& trace, const OpCalls& ops, std::vector<Place>& places)
      : trace_(trace),
        ops_(ops),
        places_(places),
        announces_(trace, names_announcement),
        checkpoints_(trace, [](auto name) { return name == "CheckpointFunctionBackward"; }),
        never_recorded_(trace, is_never_recorded) {}

  void find() {
    places_.resize(ops_.calls.size());
    for (std::uint32_t i = 0; i < places_.size(); ++i) place(i);
  }

 private:
  static constexpr std::uint32_t kNone = OpCall::kNone;

  void place(std::uint32_t i) {
    const OpCall& call = ops_.calls[i];
    const bool is_below = call.parent < i;
    Place& mine = places_[i];
    if (announces_.of(call.row)) {
      // A node inside a node: the outer one runs a backward pass of its own, so what it has
      // recorded before is a forward pass.
      if (is_below && places_[call.parent].node != kNone) {
        places_[places_[call.parent].node].has_own = true;
      }
      mine.node = i;
      return;
    }
    if (is_below) mine = places_[call.parent];
    mine.has_own = false;
    if (checkpoints_.of(call.row)) mine.checkpointed = true;
    if (mine.node == kNone || mine.recorded) return;
    if (is_node(call)) return;
    if (is_recorded(call.row)) {
      mine.recorded = true;
    } else if (!never_recorded_.of(call.row)) {
      places_[mine.node].has_own = true;
    }
  }

  // The engine announces "…evaluate_function: MmBackward0" and calls "MmBackward0".
  bool is_node(const OpCall& call) const {
    return places_[call.parent].node == call.parent &&
           trace_.name_text(ops_.calls[call.parent].row).ends_with(trace_.name_text(call.row));
  }

  // Numbers are given to calls that autograd records; a node has that of its forward call.
  bool is_recorded(Row row) const {
    const trace::OpTable& ops = trace_.ops();
    const std::uint32_t entry = ops.rows.find(row);
    return entry != base::RowSet::kNone && ops.sequence[entry] >= 0 &&
           ops.forward_thread[entry] <= 0;
  }

  const trace::Trace& trace_;
  const OpCalls& ops_;
  std::vector<Place>& places_;
  NameSign announces_, checkpoints_, never_recorded_;
};

RecomputedCalls::RecomputedCalls(const trace::Trace& trace, const OpCalls& ops)
    : ops_(&ops), hooked_(inside_hooks(trace)) {
  Finding(trace, ops, places_).find();
}

bool RecomputedCalls::operator[](std::uint32_t call) const {
  const Place& at = places_[call];
  // With create_graph=True a node's own formula is recorded too: nothing is done twice then.
  const bool again = at.recorded && places_[at.node].has_own;
  return at.checkpointed || again || (!hooked_.empty() && hooked_[ops_->calls[call].row]);
}

}  // namespace stepscope::analysis
