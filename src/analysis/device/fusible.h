// The text in which repeats worth fusing are looked for: the kernels of a rank, stream by stream,
// as numbers of their names. Matrix products, convolutions, attention, communication and copies end
// a sequence, and so does a step: no compiler fuses over them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
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

// Who started a kernel: the operator, and the module or named range around it.

// The operator that launched it; empty: not recorded.
std::string_view launching_operator(const WindowView& window, const Work& piece);
// The innermost named range or module around its launch, else the outermost operator; steps are
// none. Empty: not recorded.
std::string_view range_around(const WindowView& window, const Work& piece);
// The same of any row, which is its own outermost operator where none is around it.
std::string_view range_around(const trace::Trace& trace, trace::Row row);

// Names in a row with equal ones counted: "a | 3 x b"; an empty name is "unknown". So many and no
// more: a step of an optimizer may have thousands.
std::string joined_names(std::span<const std::string_view> names);

// Who started the kernels of a repeat: the operators, and the module or named range around them.

class RepeatOwners {
 public:
  RepeatOwners(std::span<const WindowView> windows, const FusibleText& text)
      : windows_(windows), text_(text) {}

  // Whether the trace says of any of these kernels who launched it.
  bool knows(const Repeat::Place& place) const;
  // The operator that launched the kernel at a place; empty: not recorded.
  std::string_view operator_of(std::uint32_t place) const;
  // What most of the repeat's places are started in; of several the one that comes first. Nothing
  // when the trace does not say.
  std::optional<std::string> around(const Repeat& repeat) const;

 private:
  std::string_view around(std::uint32_t place) const;

  std::span<const WindowView> windows_;
  const FusibleText& text_;
};

}  // namespace stepscope::analysis
