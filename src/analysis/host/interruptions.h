// Operators that stop in the middle for milliseconds, now this one and now that: their thread had
// no processor. Definition: docs/metrics/loop.md.
#pragma once

#include <cstdint>
#include <string>

#include "analysis/view.h"

namespace stepscope::analysis {

struct Interruptions {
  std::uint64_t steps = 0;  // that were looked at
  std::uint64_t in_steps = 0;
  std::uint64_t times = 0;  // all steps together; so below
  std::uint64_t names = 0;  // different operators
  base::Nanos sum = 0, longest = 0;
  std::string example;  // the operator of the longest
  base::Nanos all = 0;  // the time of the steps

  void merge(const Interruptions& other);
};

Interruptions interruptions(const WindowView& window);

}  // namespace stepscope::analysis
