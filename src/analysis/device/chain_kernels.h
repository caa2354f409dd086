// Which kernels a chain of passes over memory is made of, and how much each of them moves: by its
// name and by the shapes of the operator that launched it. Definition: docs/metrics/patterns.md.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "analysis/view.h"

namespace stepscope::analysis {

struct ChainKernel {
  std::uint32_t work = 0;  // into WindowView::work
  bool reduces = false;    // sums, means, maxima: it reads what others wrote and writes far less
  // It works on what a reduction has left, or is a reduction of which nobody knows how much it
  // reads: inside a chain, but never its end.
  bool between = false;
  double numbers = 0;  // of the largest tensor it reads or writes; 0: shapes were not recorded
  double threads = 0;  // of its grid along x
  int reads = 0;       // tensors of that size

  // Tensors of that size that it reads and writes. Where shapes do not say: two inputs, one output.
  int moves() const { return numbers > 0 ? reads + (reduces ? 0 : 1) : 3; }
};

// Whether both work on equally many numbers.
bool works_on_as_much(const ChainKernel& one, const ChainKernel& other);
// Whether the first works on far fewer.
bool works_on_less(const ChainKernel& one, const ChainKernel& other);

// Answers for one window, each name and each signature examined once.
class ChainKernels {
 public:
  explicit ChainKernels(const WindowView& window);

  // Nothing for work that no chain has.
  std::optional<ChainKernel> of(std::uint32_t work);

 private:
  enum class Sort : std::uint8_t { kNotRead, kOther, kPass, kReduction };
  struct Tensors {
    double numbers = 0;
    int reads = 0;
  };
  Sort sort_of(base::StringId name);
  Tensors tensors_of(const Work& piece);
  double threads_of(const Work& piece) const;

  const WindowView& window_;
  const trace::Trace& trace_;
  std::vector<Sort> sorts_;                             // by name
  std::unordered_map<std::uint64_t, Tensors> tensors_;  // by the operator's name and signature
};

}  // namespace stepscope::analysis
