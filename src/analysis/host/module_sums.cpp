#include "analysis/host/module_sums.h"

#include <algorithm>
#include <unordered_map>

#include "analysis/operators/op_calls.h"

namespace stepscope::analysis {
namespace {

using trace::Row;

// Adds trees to a tree, node by node: the same names below the same names are the same.
class Grafting {
 public:
  explicit Grafting(ModuleSums& into) : into_(into), children_(into.nodes.size()) {
    for (std::uint32_t node = 1; node < into.nodes.size(); ++node) {
      children_[into.nodes[node].parent].emplace(into.nodes[node].name.name, node);
    }
  }

  template <class NameOf>
  void add(const ModuleSums& from, NameOf name_of) {
    std::vector<std::uint32_t> place(from.nodes.size());
    into_.self[ModuleTree::kRoot].add(from.self[ModuleTree::kRoot]);
    for (std::uint32_t node = 1; node < from.nodes.size(); ++node) {
      place[node] = child(place[from.nodes[node].parent], name_of(from.nodes[node].name));
      into_.self[place[node]].add(from.self[node]);
    }
  }

 private:
  std::uint32_t child(std::uint32_t parent, const ModuleName& name) {
    const auto next = static_cast<std::uint32_t>(into_.nodes.size());
    const auto [found, is_new] = children_[parent].emplace(name.name, next);
    if (is_new) {
      into_.nodes.push_back({parent, into_.nodes[parent].depth + 1, name});
      into_.self.emplace_back();
      children_.emplace_back();
      return next;
    }
    std::string& class_name = into_.nodes[found->second].name.class_name;
    if (class_name.empty()) class_name = name.class_name;
    return found->second;
  }

  ModuleSums& into_;
  std::vector<std::unordered_map<std::string, std::uint32_t>> children_;
};

// Where device work belongs: to the place of its launch, else to that of its operator.
Row placed_row(const ModuleTree& tree, const OpCalls& ops, const Work& piece, std::size_t index) {
  const std::uint32_t call = ops.of_work[index];
  if (piece.launch != trace::kNoRow) {
    const bool known = tree.node(piece.launch) != ModuleTree::kRoot ||
                       tree.pass(piece.launch) != ModulePass::kForward;
    if (known || call == OpCall::kNone) return piece.launch;
  }
  return call == OpCall::kNone ? trace::kNoRow : ops.calls[call].row;
}

}  // namespace

void ModuleTimes::add(const ModuleTimes& other) {
  calls += other.calls;
  operators += other.operators;
  objects += other.objects;
  host += other.host;
  backward_host += other.backward_host;
  forward += other.forward;
  backward += other.backward;
  recompute += other.recompute;
}

void ModuleSums::merge(const ModuleSums& other) {
  // The same object in another recording of its rank is the same object.
  const std::size_t before = nodes.size();
  std::vector<std::uint64_t> objects;
  objects.reserve(before);
  for (const ModuleTimes& times : self) objects.push_back(times.objects);
  Grafting(*this).add(other, [](const ModuleName& name) { return name; });
  for (std::size_t node = 1; node < before; ++node) {
    const std::uint64_t added = self[node].objects - objects[node];
    self[node].objects = std::max(objects[node], added);
  }
}

void ModuleSums::add_up() {
  totals = self;
  for (std::size_t node = nodes.size(); node-- > 1;) totals[nodes[node].parent].add(totals[node]);
}

ModuleSums sum_modules(const WindowView& window, ModuleSource source) {
  const trace::Trace& trace = *window.trace;
  const OwnTime times(window);
  const ModuleTree tree(window, times, source);
  const OpCalls& ops = op_calls(window);
  ModuleSums sums;
  sums.nodes = tree.nodes();
  sums.self.resize(sums.nodes.size());
  sums.too_deep = tree.too_deep();
  for (ModuleTimes& self : sums.self) self.objects = 1;
  sums.self[ModuleTree::kRoot].objects = 0;
  for (Row row = 0; row < trace.size(); ++row) {
    if (!OwnTime::is_span(trace, row)) continue;
    ModuleTimes& self = sums.self[tree.node(row)];
    if (tree.pass(row) != ModulePass::kForward) {
      self.backward_host += times.own(row);
      continue;
    }
    self.host += times.own(row);
    if (tree.is_call(row) && window.counts_at(trace.start()[row])) ++self.calls;
  }
  for (const OpCall& call : ops.calls) {
    if (call.parent != OpCall::kNone || !window.counts_at(trace.start()[call.row])) continue;
    if (tree.pass(call.row) == ModulePass::kForward) ++sums.self[tree.node(call.row)].operators;
  }
  for (std::size_t i = 0; i < window.work.size(); ++i) {
    const Work& piece = window.work[i];
    if (!window.counts(piece)) continue;
    const Row row = placed_row(tree, ops, piece, i);
    const ModulePass pass = row == trace::kNoRow ? ModulePass::kForward : tree.pass(row);
    ModuleTimes& self = sums.self[row == trace::kNoRow ? ModuleTree::kRoot : tree.node(row)];
    (pass == ModulePass::kForward ? self.forward : self.backward) += piece.length();
    if (pass == ModulePass::kRecompute) self.recompute += piece.length();
  }
  return sums;
}

ModuleSums merged_by_class(const ModuleSums& sums) {
  ModuleSums merged;
  merged.too_deep = sums.too_deep;
  Grafting(merged).add(sums, [](const ModuleName& name) {
    const std::string& shown = name.class_name.empty() ? name.name : name.class_name;
    return ModuleName{shown, name.class_name};
  });
  return merged;
}

}  // namespace stepscope::analysis
