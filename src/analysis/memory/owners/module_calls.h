// The nn.Modules on a Python stack. Frames do not name classes, so a module is named by the line
// that calls it, and one of torch's own by its file: "train.py:85 / model.py:63 / linear". Where
// the recorder noted the modules instead (memory/places.h), these are told.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "memory/snapshot.h"

namespace stepscope::analysis {

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
