// What grows from step to step and is never freed. An allocation that is alive at the end is no
// sign by itself: weights are, and what the last step made. A sign is that the same place of the
// program leaks something in step after step, longer than it ever kept anything it freed.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/memory/history/allocations.h"
#include "analysis/memory/snapshot_work.h"

namespace stepscope::analysis {

enum class Confidence : std::uint8_t { kLow, kMedium, kHigh };
std::string_view name_of(Confidence confidence);

struct Leak {
  std::uint32_t group = 0;                // the place in the program
  std::vector<AllocationId> allocations;  // leaked, in order
  std::uint32_t steps = 0;                // steps that leaked something
  std::uint32_t of_steps = 0;             // steps from the first of them to the last that can tell
  std::int32_t first_step = 0;            // index into the steps
  base::Bytes bytes = 0;                  // leaked
  Confidence confidence = Confidence::kLow;

  double bytes_per_step() const {
    return static_cast<double>(bytes) / static_cast<double>(of_steps);
  }
  double count_per_step() const {
    return static_cast<double>(allocations.size()) / static_cast<double>(of_steps);
  }
};

// Allocations that live on beyond the step after their own though most of the same place and size
// do not. (Gradients live into the next step everywhere.)
struct Outliving {
  std::uint32_t group = 0;
  base::Bytes size = 0;                // of each
  std::uint64_t all = 0;               // allocations of this place and size, last step excluded
  std::uint64_t outlive = 0;           // of them: used beyond the step after their own
  std::uint64_t alive = 0;             // of these: to the end
  AllocationId first = kNoAllocation;  // the first that does
  std::int32_t first_step = 0;         // index into the steps
};

struct Leaks {
  std::vector<Leak> list;            // the most bytes per step first
  std::vector<Outliving> outliving;  // the most bytes first
  std::size_t telling_steps = 0;     // steps that can tell: not the first, not the last
};

// `group` is by life. Steps are taken as they come; the first counts as warm-up.
Leaks find_leaks(const Allocations& allocations, std::span<const std::uint32_t> group,
                 const StepEvents& steps);

}  // namespace stepscope::analysis
