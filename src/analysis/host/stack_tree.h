// Everything that called something, with equal stacks made one: Python frames, ranges, operators,
// calls into the runtime and, below the call that launched it, device work. Host time is own time
// (own_time.h), so the sum over the tree is what the threads' spans cover; device time is the sum
// of all device work. Definition: docs/metrics/stacks.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/host/own_time.h"
#include "analysis/view.h"

namespace stepscope::analysis {

enum class FrameKind : std::uint8_t { kThread, kPython, kRange, kOperator, kCall, kWork, kOther };
inline constexpr std::size_t kFrameKinds = 7;
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

StackTree stack_tree(const WindowView& window, const StackRules& rules);

}  // namespace stepscope::analysis
