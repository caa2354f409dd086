// The text in which repeats worth fusing are looked for: the kernels of a rank, stream by stream,
// as numbers of their names. Matrix products, convolutions, attention, communication and copies end
// a sequence, and so does a step: nobody fuses over them.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analysis/arithmetic/repeats.h"
#include "analysis/view.h"

namespace stepscope::analysis {

// Kernels that compilers leave alone: GEMM, convolution and attention of any library.
bool names_matrix_kernel(std::string_view kernel);

struct FusionLimits {
  base::Nanos longest_kernel = 0;  // a longer one ends a sequence; 0: any
  base::Nanos most_gap = 0;        // of a gap not more than this counts as cost of a launch
  base::Nanos kernel_cost = 0;     // what a kernel takes that does nothing
};

struct FusibleText {
  struct Kernel {
    std::uint32_t window = 0, work = 0;  // into the windows given, and their work
  };
  RepeatText text;
  std::vector<Kernel> kernels;          // by place; of a break nothing that means anything
  std::vector<base::Nanos> gap;         // before the kernel, as it was
  std::vector<std::string_view> names;  // by symbol
};

// `windows` are those of one rank.
FusibleText fusible_text(std::span<const WindowView> windows, const FusionLimits& limits);

}  // namespace stepscope::analysis
