#include "advice/selections.h"

#include <algorithm>
#include <array>

namespace stepscope::advice {
namespace {

// What launches work because of a selection: itself, or its part of the backward pass.
bool belongs_to_selection(std::string_view op) {
  constexpr std::string_view kNode = "autograd::engine::evaluate_function: ";
  if (!op.starts_with(kNode)) return op != "aten::where" && selects_by_mask(op);
  op.remove_prefix(kNode.size());
  return op.starts_with("IndexBackward") || op.starts_with("MaskedSelectBackward");
}

}  // namespace

bool selects_by_mask(std::string_view op) {
  constexpr std::array<std::string_view, 6> kOps = {"aten::nonzero",       "aten::index",
                                                    "aten::masked_select", "aten::where",
                                                    "aten::unique",        "aten::_unique2"};
  return std::ranges::find(kOps, op) != kOps.end();
}

bool waits_for_selections(const Facts& facts, const RankSteps& rank) {
  for (const Line& line : facts.lines("stalls", "places", rank.rank)) {
    if (line.text("stall") == "sync")
      return selects_by_mask(line.text("op"));  // the worst is first
  }
  return false;
}

double launching_of_selections_ns(const Facts& facts, const RankSteps& rank) {
  double sum = 0;
  for (const Line& line : facts.lines("stalls", "places", rank.rank)) {
    if (line.text("stall") == "launch" && belongs_to_selection(line.text("op"))) {
      sum += line.number("idle_ns");
    }
  }
  return std::min(sum / static_cast<double>(rank.steps), facts.stall(rank, "launch").idle_ns);
}

}  // namespace stepscope::advice
