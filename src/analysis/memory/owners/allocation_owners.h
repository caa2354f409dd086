// Whom each allocation belongs to besides its line of code: the annotation it was made in, and the
// nn.Module that ran. Definitions: docs/metrics/memory-timeline.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/memory/snapshot_work.h"
#include "analysis/view.h"
#include "base/units.h"
#include "memory/snapshot.h"

namespace stepscope::analysis {

struct Owners {
  static constexpr std::uint32_t kNobody = 0xffffffff;
  std::vector<std::string> names;            //
  std::vector<std::uint32_t> of_allocation;  // by life: into names, or kNobody
  std::string_view from;                     // what says it; empty: nothing does
};

// The innermost annotation that was open when it was asked for, whichever the thread. Those of the
// snapshot; where it has none, those of a trace of the same rank and time. Marks of steps are none.
Owners annotation_owners(const RunView& run, const SnapshotView& view, const HistoryWork& work);

// The module that ran, or whose backward pass did: from a trace of the same rank and time that
// names modules, else from the calls of modules in the Python stacks. At most `depth` levels; 0:
// all.
Owners module_owners(const RunView& run, const SnapshotView& view, const HistoryWork& work,
                     std::size_t depth);

// Which of many spans is the innermost at a moment: of those open then, the one that began last.
// Spans may overlap without nesting: two threads' do.

struct NamedSpan {
  base::Nanos start = 0, end = 0;
  std::uint32_t name = 0;  // the caller's
};

class OpenAt {
 public:
  static constexpr std::uint32_t kNothing = 0xffffffff;

  OpenAt() = default;
  explicit OpenAt(std::vector<NamedSpan> spans);  // n log n

  std::uint32_t at(base::Nanos time) const;  // a name, or kNothing
  bool empty() const { return changes_.empty(); }

 private:
  struct Change {
    base::Nanos time;
    std::uint32_t name;
  };
  std::vector<Change> changes_;  // by time; what holds from then on
};

// The nn.Modules on a Python stack. Frames do not name classes, so a module is named by the line
// that calls it, and one of torch's own by its file: "train.py:85 / model.py:63 / linear". Where
// the recorder noted the modules instead (memory/places.h), these are named.

class ModuleCalls {
 public:
  // At most `depth` levels; 0: all.
  ModuleCalls(const memory::Snapshot& snapshot, std::size_t depth);

  // From the outermost module in; empty where the stack calls none. Valid while this is.
  std::string_view path(memory::StackId stack);

 private:
  std::string work_out(memory::StackId stack) const;

  const memory::Snapshot& snapshot_;
  std::size_t depth_;
  std::vector<std::optional<std::string>> paths_;  // by stack
};

}  // namespace stepscope::analysis
