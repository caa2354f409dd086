// What torch sets aside for cuBLAS and cuBLASLt, unless told otherwise.
#pragma once

#include <algorithm>
#include <array>

#include "base/units.h"

namespace stepscope::analysis {

inline bool is_workspace_size(base::Bytes size) {
  constexpr std::array<base::Bytes, 3> kSizes = {32 << 20, 8519680, 1 << 20};
  return std::ranges::find(kSizes, size) != kSizes.end();
}

}  // namespace stepscope::analysis
