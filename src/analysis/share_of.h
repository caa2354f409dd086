#pragma once

#include "base/units.h"

namespace stepscope::analysis {

// 0 of 0 is not a number, and so null in a table.
inline double share_of(base::Nanos part, base::Nanos whole) {
  return static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace stepscope::analysis
