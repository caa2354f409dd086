// Stacks and the time spent in them, as flame graphs take them: on the host by frame, on the device
// by the stack that launched the work.
#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>

#include "analysis/analysis.h"
#include "analysis/host/host_time.h"
#include "analysis/host/own_time.h"
#include "analysis/key_columns.h"
#include "analysis/operators/op_calls.h"
#include "analysis/registry.h"
#include "analysis/view.h"
#include "base/number_map.h"

namespace stepscope::analysis {
namespace {

// Everything that called something, with equal stacks made one: Python frames, ranges, operators,
// calls into the runtime and, below the call that launched it, device work. Host time is own time
// (own_time.h), so the sum over the tree is what the threads' spans cover; device time is the sum
// of all device work. Definition: docs/metrics/stacks.md.

enum class FrameKind : std::uint8_t { kThread, kPython, kRange, kOperator, kCall, kWork, kOther };
constexpr std::size_t kFrameKinds = 7;
std::string_view name_of(FrameKind kind);  // "thread", "python", "range", …, "gpu work", "other"

enum class Threads : std::uint8_t { kTogether, kApart, kMain };

struct StackRules {
  bool shown[kFrameKinds] = {true, true, true, true, true, true, true};  // by FrameKind
  Threads threads = Threads::kTogether;
  std::uint32_t depth = 0;  // frames at most; 0: any number
};

struct StackNode {
  std::uint32_t parent = 0;  // stands before its children; the root is its own
  std::uint32_t depth = 0;
  FrameKind kind = FrameKind::kOther;
  std::string name = {};
  base::Nanos host = 0, device = 0;  // without the frames it called
  std::uint64_t calls = 0;
};

struct StackTree {
  std::vector<StackNode> nodes = {StackNode{}};
  bool too_deep = false;
  void merge(StackTree&& other);
};

using base::Nanos;
using trace::Kind;
using trace::Row;

constexpr std::uint32_t kRoot = 0;
constexpr std::uint32_t kStackTreeNone = 0xffffffff;
constexpr std::array<std::string_view, kFrameKinds> kStackTreeNames = {
    "thread", "python", "range", "operator", "call", "gpu work", "other"};

FrameKind stack_tree_kind_of(Kind kind) {
  switch (kind) {
    case Kind::kPython:
      return FrameKind::kPython;
    case Kind::kAnnotation:
      return FrameKind::kRange;
    case Kind::kCpuOp:
      return FrameKind::kOperator;
    case Kind::kRuntime:
    case Kind::kDriver:
      return FrameKind::kCall;
    default:
      return FrameKind::kOther;
  }
}

// Texts by number: those of the trace, and those made here.
class Labels {
 public:
  explicit Labels(const trace::Trace& trace) : trace_(trace) {}
  std::uint32_t made(std::string_view text) {
    const auto next = static_cast<std::uint32_t>(trace_.strings().size() + texts_.size());
    const auto [found, is_new] = numbers_.emplace(text, next);
    if (is_new) texts_.emplace_back(text);
    return found->second;
  }
  std::string_view operator[](std::uint32_t label) const {
    const std::size_t own = trace_.strings().size();
    return label < own ? trace_.text(label) : std::string_view(texts_[label - own]);
  }

 private:
  const trace::Trace& trace_;
  std::unordered_map<std::string, std::uint32_t> numbers_;
  std::vector<std::string> texts_;
};

base::StringId call_stack_of(const trace::Trace& trace, Row row) {
  const std::uint32_t entry = trace.stacks().rows.find(row);
  return entry == base::RowSet::kNone ? base::kNoString : trace.stacks().call_stack[entry];
}

std::string thread_label(const trace::Track& track) {
  if (track.thread_name.empty()) return fmt::format("thread {}", track.thread);
  return fmt::format("thread {} ({})", track.thread, track.thread_name);
}

class Building {
 public:
  Building(const WindowView& window, const StackRules& rules)
      : window_(window),
        trace_(*window.trace),
        rules_(rules),
        times_(window),
        ops_(op_calls(window)),
        marks_(trace_),
        labels_(trace_),
        node_(trace_.size()) {
    has_python_ = std::ranges::find(trace_.kind(), Kind::kPython) != trace_.kind().end();
    only_ = rules.threads == Threads::kMain ? main_thread() : kStackTreeNone;
  }

  StackTree take() {
    const auto tracks = trace_.tracks();
    for (std::uint32_t i = 0; i < tracks.size(); ++i) {
      if (tracks[i].is_device || (only_ != kStackTreeNone && i != only_)) continue;
      thread_ = kRoot;
      for (Row row = tracks[i].begin; row < tracks[i].end; ++row) {
        if (OwnTime::is_span(trace_, row)) add_span(row, tracks[i]);
      }
    }
    add_work();
    return std::move(tree_);
  }

 private:
  // The thread whose ranges are the steps; without steps the one with most to do.
  std::uint32_t main_thread() const {
    for (const trace::Step& step : trace_.steps().list) {
      if (step.row != trace::kNoRow) return trace_.track()[step.row];
    }
    std::uint32_t best = kStackTreeNone;
    Nanos most = -1;
    for (std::uint32_t i = 0; i < trace_.tracks().size(); ++i) {
      const trace::Track& track = trace_.tracks()[i];
      Nanos sum = 0;
      for (Row row = track.begin; row < track.end; ++row) sum += times_.self_ns(row);
      if (!track.is_device && sum > most) {
        best = i;
        most = sum;
      }
    }
    return best;
  }

  std::uint32_t child(std::uint32_t parent, FrameKind kind, std::uint32_t label) {
    StackNode& above = tree_.nodes[parent];
    if (rules_.depth != 0 && above.depth >= rules_.depth && kind != FrameKind::kWork) {
      tree_.too_deep = true;
      return parent;
    }
    const std::uint64_t key =
        std::uint64_t{parent} << 32 | std::uint64_t{label} << 3 | static_cast<std::uint64_t>(kind);
    // A program does the same again and again: mostly the next frame is the one of the last time.
    std::uint32_t node = order_[last_].next;
    if (order_[node].key != key) {
      const auto fresh = static_cast<std::uint32_t>(tree_.nodes.size());
      const auto [number, is_new] = children_.try_emplace(key, fresh);
      node = number;
      if (is_new) {
        const std::uint32_t depth = above.depth + 1;
        tree_.nodes.push_back({parent, depth, kind, std::string(labels_[label])});
        order_.push_back({key, kRoot});
      }
      order_[last_].next = node;
    }
    last_ = node;
    return node;
  }

  std::uint32_t label_of(Row row) {
    const base::StringId name = trace_.name()[row];
    if (name == base::kNoString) return labels_.made("(without a name)");
    if (trace_.kind()[row] != Kind::kAnnotation || !marks_.contains(row)) return name;
    // Their numbers would make a stack of every step.
    std::string_view text = trace_.text(name);
    const std::size_t last = text.find_last_not_of("0123456789");
    if (last != std::string_view::npos) text = text.substr(0, last + 1);
    return labels_.made(text);
  }

  // Time of frames that are not shown and have none around them.
  std::uint32_t not_shown() {
    return child(thread_, FrameKind::kOther, labels_.made("(not shown)"));
  }

  // Python frames that older recordings wrote as text on the operator, the innermost first.
  std::uint32_t below_text(std::uint32_t node, Row row) {
    if (has_python_ || !shows(FrameKind::kPython)) return node;
    const std::uint32_t call = ops_.find(row);
    if (call == OpCall::kNone || ops_.calls[call].parent != OpCall::kNone) return node;
    std::string_view text = trace_.text(call_stack_of(trace_, row));
    while (!text.empty()) {
      const std::size_t cut = text.rfind(';');
      const std::string_view frame = cut == std::string_view::npos ? text : text.substr(cut + 1);
      if (!frame.empty()) node = child(node, FrameKind::kPython, labels_.made(frame));
      text = cut == std::string_view::npos ? std::string_view() : text.substr(0, cut);
    }
    return node;
  }

  bool shows(FrameKind kind) const { return rules_.shown[static_cast<std::size_t>(kind)]; }

  void add_span(Row row, const trace::Track& track) {
    if (thread_ == kRoot && rules_.threads == Threads::kApart) {
      thread_ = child(kRoot, FrameKind::kThread, labels_.made(thread_label(track)));
    }
    const Row parent = times_.parent(row);
    std::uint32_t node = parent == trace::kNoRow ? thread_ : node_[parent] - 1;
    const FrameKind kind = stack_tree_kind_of(trace_.kind()[row]);
    if (kind == FrameKind::kOperator) node = below_text(node, row);
    const std::uint32_t before = node;
    if (shows(kind)) node = child(node, kind, label_of(row));
    node_[row] = node + 1;
    const Nanos own = times_.self_ns(row);
    if (node == thread_ && own > 0) {
      tree_.nodes[not_shown()].host += own;
    } else {
      tree_.nodes[node].host += own;
    }
    // What is too deep for a frame of its own is no call of the one around it.
    if (node != before && window_.counts_at(trace_.start()[row])) ++tree_.nodes[node].calls;
  }

  // The frame below which a piece of work stands: its launch, else its operator.
  std::uint32_t starter_of(const Work& piece, std::size_t index) {
    const std::uint32_t call = ops_.of_work[index];
    Row row = piece.launch;
    if (call != OpCall::kNone && (row == trace::kNoRow || times_.parent(row) == trace::kNoRow)) {
      row = ops_.calls[call].row;
    }
    if (row != trace::kNoRow && node_[row] != 0) return node_[row] - 1;
    if (only_ != kStackTreeNone) return kStackTreeNone;
    return child(kRoot, FrameKind::kOther, labels_.made("(launch not recorded)"));
  }

  void add_work() {
    thread_ = kRoot;
    for (std::size_t i = 0; i < window_.work.size(); ++i) {
      const Work& piece = window_.work[i];
      if (!window_.counts(piece)) continue;
      std::uint32_t node = starter_of(piece, i);
      if (node == kStackTreeNone) continue;  // of a thread that was not asked for
      if (shows(FrameKind::kWork)) {
        const base::StringId name = trace_.name()[piece.row];
        const bool named = name != base::kNoString;
        node = child(node, FrameKind::kWork, named ? name : labels_.made("(without a name)"));
        ++tree_.nodes[node].calls;
      } else if (node == kRoot) {
        node = not_shown();
      }
      tree_.nodes[node].device += piece.length();
    }
  }

  const WindowView& window_;
  const trace::Trace& trace_;
  const StackRules& rules_;
  OwnTime times_;
  const OpCalls& ops_;
  StepMarks marks_;
  Labels labels_;
  StackTree tree_;
  base::NumberMap children_;
  struct Visited {
    std::uint64_t key;   // under which children_ has it
    std::uint32_t next;  // the node that was asked for after it
  };
  std::vector<Visited> order_ = {{0xffffffffffffffff, kRoot}};  // by node
  std::uint32_t last_ = kRoot;                                  // node that was asked for
  base::Column<std::uint32_t> node_;     // by row, 1 more; 0: not a span that was asked for
  std::uint32_t thread_ = kRoot;         // where the stacks of the current thread begin
  std::uint32_t only_ = kStackTreeNone;  // the only thread that was asked for
  bool has_python_ = false;
};

std::string_view name_of(FrameKind kind) { return kStackTreeNames[static_cast<std::size_t>(kind)]; }

void StackTree::merge(StackTree&& other) {
  too_deep |= other.too_deep;
  if (nodes.size() == 1 && nodes[0].host == 0) {
    nodes = std::move(other.nodes);
    return;
  }
  std::vector<std::unordered_map<std::string, std::uint32_t>> children(nodes.size());
  const auto key_of = [](const StackNode& node) {
    return fmt::format("{}{}", static_cast<int>(node.kind), node.name);
  };
  for (std::uint32_t node = 1; node < nodes.size(); ++node) {
    children[nodes[node].parent].emplace(key_of(nodes[node]), node);
  }
  std::vector<std::uint32_t> place(other.nodes.size());
  for (std::uint32_t node = 1; node < other.nodes.size(); ++node) {
    const StackNode& from = other.nodes[node];
    const std::uint32_t parent = place[from.parent];
    const auto [found, is_new] =
        children[parent].emplace(key_of(from), static_cast<std::uint32_t>(nodes.size()));
    place[node] = found->second;
    if (is_new) {
      nodes.push_back(from);
      nodes.back().parent = parent;
      children.emplace_back();
    } else {
      nodes[place[node]].host += from.host;
      nodes[place[node]].device += from.device;
      nodes[place[node]].calls += from.calls;
    }
  }
}

StackTree stack_tree(const WindowView& window, const StackRules& rules) {
  return Building(window, rules).take();
}

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
      // A caller has at least the time of a callee and stands before it: none loses its caller.
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
