// Time by nn.Module: on the host while it ran, on the device by what it launched, and what the
// backward pass of its operators launched. What belongs to no module is a row, so that device time
// adds up to the whole.
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "analysis/analysis.h"
#include "analysis/host/module_sums.h"
#include "analysis/key_columns.h"
#include "analysis/registry.h"
#include "analysis/view.h"

namespace stepscope::analysis {
namespace {

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
