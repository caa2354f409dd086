// Times by module of one window, added over windows by path.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/host/module_tree.h"
#include "analysis/view.h"

namespace stepscope::analysis {

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

ModuleSums sum_modules(const WindowView& window, ModuleSource source);

// Modules of one class below the same classes as one.
ModuleSums merged_by_class(const ModuleSums& sums);

}  // namespace stepscope::analysis
