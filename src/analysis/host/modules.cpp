// Time by nn.Module: on the host while it ran, on the device by what it launched, and what the
// backward pass of its operators launched. What belongs to no module is a row, so that device time
// adds up to the whole.
#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>

#include "analysis/analysis.h"
#include "analysis/host/module_tree.h"
#include "analysis/key_columns.h"
#include "analysis/operators/op_calls.h"
#include "analysis/registry.h"
#include "analysis/view.h"

namespace stepscope::analysis {
namespace {

// Times by module of one window, added over windows by path.

struct ModuleTimes {
  std::uint64_t calls = 0, operators = 0, objects = 0;
  base::Nanos host = 0, backward_host = 0;
  base::Nanos forward = 0, backward = 0, recompute = 0;  // on the device; recompute in backward
  base::Nanos device() const { return forward + backward; }
  void add(const ModuleTimes& other);
};

struct ModuleSums {
  std::vector<ModuleNode> nodes = {ModuleNode{}};  // a parent before its children; 0: the root
  std::vector<ModuleTimes> self = {ModuleTimes{}};
  std::vector<ModuleTimes> totals = {};  // with the modules inside; after add_up()
  bool too_deep = false;

  void merge(const ModuleSums& other);
  void add_up();
};

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
      self.backward_host += times.self_ns(row);
      continue;
    }
    self.host += times.self_ns(row);
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

// Modules of one class below the same classes as one.
ModuleSums merged_by_class(const ModuleSums& sums) {
  ModuleSums merged;
  merged.too_deep = sums.too_deep;
  Grafting(merged).add(sums, [](const ModuleName& name) {
    const std::string& shown = name.class_name.empty() ? name.name : name.class_name;
    return ModuleName{shown, name.class_name};
  });
  return merged;
}

using base::Nanos;
using base::Type;
using base::Unit;

constexpr std::array<std::string_view, 5> kSources = {"auto", "python", "hierarchy", "lightning",
                                                      "ranges"};
constexpr std::array<std::string_view, 2> kBy = {"instance", "class"};
constexpr std::array kModulesParameters = std::to_array<Parameter>({
    {"top", ParameterType::kCount, "40", "modules per rank, those with most GPU time. 0: all"},
    {"depth", ParameterType::kCount, "0", "levels of modules inside of modules. 0: all"},
    {"by", ParameterType::kChoice, "instance",
     "a row is one module object, or all objects of a class below the same parents", kBy},
    {"from", ParameterType::kChoice, "auto",
     "what names the modules: Python frames (with_stack=True), TorchScript's module hierarchy "
     "(with_modules=True), Lightning's ranges, or all ranges of the user; auto: the first of the "
     "first three that is there",
     kSources},
});

constexpr std::array kModulesColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    {"module", Type::kText, Unit::kNone, "the module itself; null: in no module"},
    {"calls", Type::kInt, Unit::kCount,
     "how often it ran; runs that only repeat it for the backward pass are not counted"},
    {"device_ns", Type::kInt, Unit::kNanos,
     "GPU time of the module and the modules inside it, forward_ns and backward_ns together"},
    {"share", Type::kReal, Unit::kShare, "device_ns of the time of all GPU work of this rank"},
    {"forward_ns", Type::kInt, Unit::kNanos,
     "lengths of GPU work that was started while it ran, added"},
    {"backward_ns", Type::kInt, Unit::kNanos,
     "lengths of GPU work that the backward pass of its operators started, added"},
    {"device_self_ns", Type::kInt, Unit::kNanos, "device_ns without the modules inside it"},
    {"host_ns", Type::kInt, Unit::kNanos,
     "time on the host while it ran; without Python frames: in its operators"},
    {"host_self_ns", Type::kInt, Unit::kNanos, "host_ns without the modules inside it"},
    {"class", Type::kText, Unit::kNone, "its Python class, where the trace says it"},
    {"backward_host_ns", Type::kInt, Unit::kNanos,
     "time on the host in the backward pass of its operators"},
    {"forward_self_ns", Type::kInt, Unit::kNanos, "forward_ns without the modules inside it"},
    {"backward_self_ns", Type::kInt, Unit::kNanos, "backward_ns without the modules inside it"},
    {"recompute_ns", Type::kInt, Unit::kNanos,
     "part of backward_ns: running the module again (activation checkpointing)"},
    {"operators", Type::kInt, Unit::kCount,
     "operator calls while it ran, without those that operators make"},
    {"objects", Type::kInt, Unit::kCount, "module objects the row stands for"},
    {"depth", Type::kInt, Unit::kNone, "modules around it"},
    {"path", Type::kText, Unit::kNone, "the modules around it and itself; null: in no module"},
});
constexpr std::array<std::string_view, 1> kModulesBar = {"device_ns"};
constexpr std::array kModulesTables = std::to_array<base::TableShape>({
    {"modules",
     "a module below the one that called it, the longest first",
     kModulesColumns,
     {base::Chart::kTree, "module", kModulesBar, "rank"}},
});

std::optional<ModuleSource> source_named(std::string_view name) {
  if (name == "python") return ModuleSource::kPython;
  if (name == "hierarchy") return ModuleSource::kHierarchy;
  if (name == "lightning") return ModuleSource::kLightning;
  if (name == "ranges") return ModuleSource::kRanges;
  return std::nullopt;
}

bool anywhere(const RunView& view, ModuleSource source) {
  const auto found = per_window<std::uint8_t>(view, [&](const WindowView& window) {
    return static_cast<std::uint8_t>(names_modules(*window.trace, source));
  });
  return std::ranges::find(found, 1) != found.end();
}

std::optional<ModuleSource> source_of(const RunView& view, std::string_view asked) {
  if (const auto named = source_named(asked)) {
    return anywhere(view, *named) ? named : std::nullopt;
  }
  for (const ModuleSource source :
       {ModuleSource::kPython, ModuleSource::kHierarchy, ModuleSource::kLightning}) {
    if (anywhere(view, source)) return source;
  }
  return std::nullopt;
}

std::string why_no_modules(std::string_view asked) {
  if (asked == "auto") {
    return "Nothing in the trace names modules: record with "
           "torch.profiler.profile(with_stack=True), or with_modules=True for TorchScript.";
  }
  return fmt::format("Nothing in the trace names modules in the way --from {} asks for.", asked);
}

// Python sees a scripted model as one call; TorchScript's own names go further.
bool names_more(const RunView& view, ModuleSource source, std::string_view asked) {
  const bool any_stacks = std::ranges::any_of(view.windows, [](const WindowView& window) {
    return window.trace->stacks().rows.size() > 0;
  });
  return asked == "auto" && source == ModuleSource::kPython && any_stacks &&
         anywhere(view, ModuleSource::kHierarchy);
}

struct ModulesPlace {
  std::uint32_t node;
  std::string path;
};

// The tree of one rank, from the outside in, the longest first.
class ModulesListing {
 public:
  ModulesListing(const ModuleSums& sums, std::size_t top, std::uint32_t depth)
      : sums_(sums), below_(sums.nodes.size()), shown_(sums.nodes.size()) {
    std::vector<std::uint32_t> order;
    for (std::uint32_t node = 1; node < sums.nodes.size(); ++node) {
      below_[sums.nodes[node].parent].push_back(node);
      if (depth == 0 || sums.nodes[node].depth <= depth) order.push_back(node);
    }
    // A parent has at least the time of a child and stands before it: whoever is among the first
    // has its parents among them.
    sort_by_weight(order);
    const std::size_t most = top == 0 ? order.size() : std::min(top, order.size());
    for (std::size_t i = 0; i < most; ++i) shown_[order[i]] = true;
    left_out_ = order.size() - most;
  }

  void add_to(base::Table& table, std::int32_t rank, bool with_calls) {
    const Nanos all = sums_.totals[ModuleTree::kRoot].device();
    std::vector<ModulesPlace> open = {{ModuleTree::kRoot, ""}};
    while (!open.empty()) {
      const ModulesPlace place = std::move(open.back());
      open.pop_back();
      if (place.node != ModuleTree::kRoot) add_row(table, rank, place, all, with_calls);
      std::vector<std::uint32_t>& inside = below_[place.node];
      sort_by_weight(inside);
      for (std::size_t i = inside.size(); i-- > 0;) {
        if (!shown_[inside[i]]) continue;
        const std::string& name = sums_.nodes[inside[i]].name.name;
        open.push_back({inside[i], place.path.empty() ? name : place.path + "." + name});
      }
    }
    add_row(table, rank, {ModuleTree::kRoot, ""}, all, with_calls);
  }
  std::size_t left_out() const { return left_out_; }

 private:
  using Weight = std::pair<Nanos, Nanos>;
  Weight weight(std::uint32_t node) const {
    const ModuleTimes& t = sums_.totals[node];
    return {t.device(), t.host + t.backward_host};
  }
  void sort_by_weight(std::vector<std::uint32_t>& nodes) const {
    std::ranges::stable_sort(nodes, std::ranges::greater{},
                             [this](std::uint32_t node) { return weight(node); });
  }

  void add_row(base::Table& table, std::int32_t rank, const ModulesPlace& place, Nanos all,
               bool with_calls) const {
    const base::Cell none = base::Null{};
    const bool outside = place.node == ModuleTree::kRoot;
    const ModuleNode& node = sums_.nodes[place.node];
    const ModuleTimes& self = sums_.self[place.node];
    const ModuleTimes& t = outside ? self : sums_.totals[place.node];
    const double share = static_cast<double>(t.device()) / static_cast<double>(all);
    table.add({rank, outside ? none : base::Cell(node.name.name),
               outside || !with_calls ? none : base::Cell(self.calls), t.device(), share, t.forward,
               t.backward, self.device(), t.host, self.host,
               node.name.class_name.empty() ? none : base::Cell(node.name.class_name),
               t.backward_host, self.forward, self.backward, t.recompute, t.operators,
               outside ? none : base::Cell(self.objects), outside ? 0 : node.depth - 1,
               outside ? none : base::Cell(place.path)});
  }

  const ModuleSums& sums_;
  std::vector<std::vector<std::uint32_t>> below_;
  std::vector<bool> shown_;
  std::size_t left_out_ = 0;
};

Answer run_modules(const RunView& view, const Options& options) {
  Answer answer;
  base::Table table(kModulesTables[0]);
  const auto source = source_of(view, options.text("from"));
  if (!source) {
    answer.remarks.push_back(why_no_modules(options.text("from")));
    answer.tables.push_back(std::move(table));
    return answer;
  }
  const bool by_class = options.text("by") == "class";
  const auto partials = per_window<ModuleSums>(view, [&](const WindowView& window) {
    ModuleSums sums = sum_modules(window, *source);
    return by_class ? merged_by_class(sums) : sums;
  });
  std::map<std::int32_t, ModuleSums> ranks;
  bool too_deep = false;
  for (std::size_t w = 0; w < partials.size(); ++w) {
    ranks[view.windows[w].rank].merge(partials[w]);
    too_deep |= partials[w].too_deep;
  }
  std::size_t left_out = 0;
  for (auto& [rank, sums] : ranks) {
    sums.add_up();
    ModulesListing listing(sums, static_cast<std::size_t>(options.count("top")),
                           static_cast<std::uint32_t>(std::min<std::int64_t>(
                               options.count("depth"), ModuleTree::kDeepest)));
    listing.add_to(table, rank, *source != ModuleSource::kHierarchy);
    left_out = std::max(left_out, listing.left_out());
  }
  if (!view.has_device_work()) answer.remarks.push_back(why_no_device_work(view));
  if (names_more(view, *source, options.text("from"))) {
    answer.remarks.emplace_back(
        "TorchScript names modules in this trace too: --from hierarchy shows those inside of "
        "scripted ones, and their backward.");
  }
  if (too_deep) {
    answer.remarks.push_back(
        fmt::format("Modules nest deeper than {} levels: the time of those further down is in the "
                    "module at that level.",
                    ModuleTree::kDeepest));
  }
  if (left_out > 0) {
    answer.remarks.push_back(Remark::on_limit(fmt::format(
        "--top left out up to {} modules of a rank, whose time is in the modules around them; "
        "--top 0 lists all.",
        left_out)));
  }
  answer.tables.push_back(std::move(table));
  return answer;
}

}  // namespace

const Analysis kModules{
    .name = "modules",
    .title = "Modules",
    .question = "Which parts of the model take the time, forward and backward?",
    .parameters = kModulesParameters,
    .tables = kModulesTables,
    .run = run_modules,
};

}  // namespace stepscope::analysis
