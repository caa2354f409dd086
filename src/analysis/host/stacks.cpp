// Stacks and the time spent in them, as flame graphs take them: on the host by frame, on the device
// by the stack that launched the work.
#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "analysis/analysis.h"
#include "analysis/host/stack_tree.h"
#include "analysis/key_columns.h"
#include "analysis/registry.h"
#include "analysis/view.h"

namespace stepscope::analysis {
namespace {

using base::Nanos;
using base::Type;
using base::Unit;

constexpr std::array<std::string_view, 2> kMetrics = {"host", "device"};
constexpr std::array<std::string_view, 3> kThreads = {"together", "apart", "main"};
constexpr std::array kStacksParameters = std::to_array<Parameter>({
    {"metric", ParameterType::kChoice, "host",
     "host: time of the calling threads; device: time of the GPU work the stacks launched, with "
     "the kernels at their ends",
     kMetrics},
    {"threads", ParameterType::kChoice, "together",
     "together: equal stacks of all threads are one; apart: a frame for each thread below its "
     "stacks; main: only the thread that runs the steps",
     kThreads},
    {"top", ParameterType::kCount, "100",
     "stacks per rank, the longest; the rest is one row. 0: all"},
    {"frames", ParameterType::kCount, "0",
     "rows of the table frames per rank, the longest. 0: all, as flame graphs need them"},
    {"depth", ParameterType::kCount, "200",
     "frames of a stack at most; the time of those further in counts for the last. 0: all"},
    {"no-python", ParameterType::kSwitch, "false", "leave out Python frames"},
    {"no-ranges", ParameterType::kSwitch, "false", "leave out the ranges named by the user"},
    {"no-operators", ParameterType::kSwitch, "false", "leave out operators"},
    {"no-calls", ParameterType::kSwitch, "false", "leave out calls into the runtime and driver"},
    {"no-kernels", ParameterType::kSwitch, "false",
     "with --metric device: leave out kernels and copies; their time stays with their launch"},
});

constexpr std::array kStacksStackColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    {"frame", Type::kText, Unit::kNone,
     "the last frame of the stack; null: all the other stacks together"},
    {"host_self_ns", Type::kInt, Unit::kNanos, "time on the host in exactly this stack"},
    {"device_ns", Type::kInt, Unit::kNanos, "lengths of the GPU work exactly this stack launched"},
    {"share", Type::kReal, Unit::kShare,
     "of the rank: host_self_ns of all stacks, with --metric device device_ns"},
    {"calls", Type::kInt, Unit::kCount, "how often its last frame was called in it"},
    {"stack", Type::kText, Unit::kNone,
     "names of the frames from the outside in, with ; between them, a ; in a name written as a "
     "comma"},
});
constexpr std::array kStacksFrameColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    {"frame", Type::kText, Unit::kNone, "the last frame of a stack"},
    {"kind", Type::kText, Unit::kNone, "thread, python, range, operator, call, gpu work or other"},
    {"host_ns", Type::kInt, Unit::kNanos, "time on the host in this stack and what it called"},
    {"device_ns", Type::kInt, Unit::kNanos,
     "lengths of the GPU work that this stack and what it called launched"},
    {"host_self_ns", Type::kInt, Unit::kNanos, "time on the host in exactly this stack"},
    {"device_self_ns", Type::kInt, Unit::kNanos,
     "lengths of the GPU work exactly this stack launched"},
    {"calls", Type::kInt, Unit::kCount, "how often the frame was called in this stack"},
    {"depth", Type::kInt, Unit::kNone, "frames before it"},
});
constexpr std::array<std::string_view, 1> kStacksBar = {"host_self_ns"};
constexpr std::array<std::string_view, 2> kWidths = {"host_ns", "device_ns"};
constexpr std::array kStacksTables = std::to_array<base::TableShape>({
    {"stacks",
     "a stack, the longest first",
     kStacksStackColumns,
     {base::Chart::kBars, "frame", kStacksBar, "rank"}},
    {"frames",
     "a stack below the one that called it, the longest first",
     kStacksFrameColumns,
     {base::Chart::kTree, "frame", kWidths, "rank"}},
});

struct StacksSums {
  Nanos host = 0, device = 0;
  std::uint64_t calls = 0;
};

// The tree of one rank on its way into the tables.
class StacksListing {
 public:
  StacksListing(const StackTree& tree, bool device) : nodes_(tree.nodes), device_(device) {
    totals_.resize(nodes_.size());
    for (std::size_t node = nodes_.size(); node-- > 1;) {
      totals_[node].host += nodes_[node].host;
      totals_[node].device += nodes_[node].device;
      totals_[node].calls += nodes_[node].calls;
      StacksSums& above = totals_[nodes_[node].parent];
      above.host += totals_[node].host;
      above.device += totals_[node].device;
      above.calls += totals_[node].calls;
    }
  }

  void add_stacks(base::Table& table, std::int32_t rank, std::size_t top) const {
    std::vector<std::uint32_t> order;
    for (std::uint32_t node = 1; node < nodes_.size(); ++node) {
      const StackNode& one = nodes_[node];
      if (one.device > 0 || (!device_ && (one.host > 0 || one.calls > 0))) order.push_back(node);
    }
    std::ranges::stable_sort(order, std::ranges::greater{}, [&](std::uint32_t node) {
      return device_ ? nodes_[node].device : nodes_[node].host;
    });
    const auto all = static_cast<double>(device_ ? totals_[0].device : totals_[0].host);
    const auto add = [&](base::Cell frame, base::Cell stack, const StacksSums& s) {
      const auto part = static_cast<double>(device_ ? s.device : s.host);
      table.add({rank, frame, s.host, s.device, part / all, s.calls, stack});
    };
    // One stack more costs no more lines than "the others" would.
    const bool fits = top == 0 || order.size() <= top + 1;
    const std::size_t shown = fits ? order.size() : top;
    StacksSums rest;
    for (std::size_t i = 0; i < order.size(); ++i) {
      const StackNode& node = nodes_[order[i]];
      if (i < shown) {
        add(node.name, path_of(order[i]), {node.host, node.device, node.calls});
      } else {
        rest.host += node.host;
        rest.device += node.device;
        rest.calls += node.calls;
      }
    }
    if (!fits) add(base::Null{}, base::Null{}, rest);
  }

  // How many frames were left out.
  std::size_t add_frames(base::Table& table, std::int32_t rank, std::size_t most) const {
    std::vector<std::uint32_t> listed;
    for (std::uint32_t node = 1; node < nodes_.size(); ++node) {
      if (is_listed(node)) listed.push_back(node);
    }
    const std::size_t all = listed.size();
    if (most != 0 && most < all) {
      // A caller has at least the time of a callee and stands before it: nobody loses its caller.
      std::ranges::stable_sort(listed, std::ranges::greater{},
                               [&](std::uint32_t node) { return total(node); });
      listed.resize(most);
      std::ranges::sort(listed);
    }
    std::vector<std::vector<std::uint32_t>> below(nodes_.size());
    for (const std::uint32_t node : listed) below[nodes_[node].parent].push_back(node);
    std::vector<std::uint32_t> open = {0};
    while (!open.empty()) {
      const std::uint32_t node = open.back();
      open.pop_back();
      if (node != 0) add_frame(table, rank, node);
      std::ranges::stable_sort(below[node], std::ranges::greater{},
                               [&](std::uint32_t inside) { return total(inside); });
      open.insert(open.end(), below[node].rbegin(), below[node].rend());
    }
    return all - listed.size();
  }

 private:
  Nanos total(std::uint32_t node) const {
    return device_ ? totals_[node].device : totals_[node].host;
  }
  bool is_listed(std::uint32_t node) const {
    const StacksSums& t = totals_[node];
    return t.device > 0 || (!device_ && (t.host > 0 || t.calls > 0));
  }

  void add_frame(base::Table& table, std::int32_t rank, std::uint32_t node) const {
    const StackNode& one = nodes_[node];
    const StacksSums& t = totals_[node];
    table.add({rank, one.name, name_of(one.kind), t.host, t.device, one.host, one.device, one.calls,
               one.depth - 1});
  }

  std::string path_of(std::uint32_t node) const {
    std::vector<std::uint32_t> frames;
    for (; node != 0; node = nodes_[node].parent) frames.push_back(node);
    std::string path;
    for (std::size_t i = frames.size(); i-- > 0;) {
      if (!path.empty()) path += ';';
      std::string name = nodes_[frames[i]].name;
      std::ranges::replace(name, ';', ',');
      path += name;
    }
    return path;
  }

  const std::vector<StackNode>& nodes_;
  bool device_;
  std::vector<StacksSums> totals_;
};

StackRules rules_of(const Options& options, bool device) {
  StackRules rules;
  const auto hide = [&](FrameKind kind) { rules.shown[static_cast<std::size_t>(kind)] = false; };
  if (options.on("no-python")) hide(FrameKind::kPython);
  if (options.on("no-ranges")) hide(FrameKind::kRange);
  if (options.on("no-operators")) hide(FrameKind::kOperator);
  if (options.on("no-calls")) hide(FrameKind::kCall);
  if (options.on("no-kernels") || !device) hide(FrameKind::kWork);
  if (options.text("threads") == "apart") rules.threads = Threads::kApart;
  if (options.text("threads") == "main") rules.threads = Threads::kMain;
  rules.depth = static_cast<std::uint32_t>(std::min<std::int64_t>(options.count("depth"), 1 << 30));
  return rules;
}

// Older recordings write the Python frames on the operators; some only write empty ones.
bool has_call_stacks(const trace::Trace& trace) {
  const trace::StackTable& stacks = trace.stacks();
  for (std::uint32_t entry = 0; entry < stacks.rows.size(); ++entry) {
    if (!trace.text(stacks.call_stack[entry]).empty()) return true;
  }
  return false;
}

bool has_python(const RunView& view) {
  return std::ranges::any_of(view.windows, [](const WindowView& window) {
    const auto kinds = window.trace->kind();
    return std::ranges::find(kinds, trace::Kind::kPython) != kinds.end() ||
           has_call_stacks(*window.trace);
  });
}

Answer run_stacks(const RunView& view, const Options& options) {
  const bool device = options.text("metric") == "device";
  const StackRules rules = rules_of(options, device);
  auto partials = per_window<StackTree>(
      view, [&](const WindowView& window) { return stack_tree(window, rules); });
  std::map<std::int32_t, StackTree> ranks;
  for (std::size_t w = 0; w < partials.size(); ++w) {
    ranks[view.windows[w].rank].merge(std::move(partials[w]));
  }
  Answer answer;
  base::Table stacks(kStacksTables[0]);
  base::Table frames(kStacksTables[1]);
  bool too_deep = false;
  std::size_t left_out = 0;
  for (const auto& [rank, tree] : ranks) {
    const StacksListing listing(tree, device);
    listing.add_stacks(stacks, rank, static_cast<std::size_t>(options.count("top")));
    left_out = std::max(
        left_out,
        listing.add_frames(frames, rank, static_cast<std::size_t>(options.count("frames"))));
    too_deep |= tree.too_deep;
  }
  if (device && !view.has_device_work()) answer.remarks.push_back(why_no_device_work(view));
  if (!has_python(view)) {
    answer.remarks.emplace_back(
        "The trace has no Python frames: torch.profiler.profile(with_stack=True) records them.");
  }
  if (too_deep) {
    answer.remarks.push_back(Remark::on_limit(
        fmt::format("Some stacks have more frames than --depth {} shows: the time of those further "
                    "in is in the "
                    "last one shown; --depth 0 shows all.",
                    rules.depth)));
  }
  if (left_out > 0) {
    answer.remarks.push_back(Remark::on_limit(fmt::format(
        "--frames left out up to {} frames of a rank, whose time is in the frames that called "
        "them.",
        left_out)));
  }
  answer.tables.push_back(std::move(stacks));
  answer.tables.push_back(std::move(frames));
  return answer;
}

}  // namespace

const Analysis kStacks{
    .name = "stacks",
    .title = "Stacks",
    .question = "Which code takes the host's time, and which code launches the GPU's work?",
    .parameters = kStacksParameters,
    .tables = kStacksTables,
    .run = run_stacks,
};

}  // namespace stepscope::analysis
