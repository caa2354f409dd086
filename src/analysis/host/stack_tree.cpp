#include "analysis/host/stack_tree.h"

#include <algorithm>
#include <array>
#include <unordered_map>

#include <fmt/format.h>

#include "analysis/host/host_time.h"
#include "analysis/operators/op_calls.h"
#include "base/number_map.h"

namespace stepscope::analysis {
namespace {

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
      for (Row row = track.begin; row < track.end; ++row) sum += times_.own(row);
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
    const Nanos own = times_.own(row);
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

}  // namespace

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

}  // namespace stepscope::analysis
