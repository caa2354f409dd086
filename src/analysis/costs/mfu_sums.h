// What model FLOPs utilisation adds up: FLOPs and time by step, by arithmetic, and of what is not
// known; the profiler's counts beside ours.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analysis/costs/call_costs.h"
#include "analysis/costs/peaks.h"
#include "analysis/view.h"

namespace stepscope::analysis {

// The place of types without a peak, behind all arithmetics.
inline constexpr std::size_t kNoPeak = kArithmetics;

struct MfuTypeSums {
  Amount flops = 0;
  base::Nanos device_ns = 0;
  double roof_ns = 0;
};

struct MfuStepSums {
  base::Nanos step_ns = 0, compute_ns = 0, known_ns = 0;
  base::Nanos recomputed_ns = 0;  // of compute_ns: of forward calls that ran again
  Amount model = 0, recomputed = 0;
  Amount by_profiler = 0;  // of model
  bool products = false;   // some call's model FLOPs are known
  std::array<Amount, kArithmetics + 1> by_type = [] {
    std::array<Amount, kArithmetics + 1> zeros = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    return zeros;
  }();

  // Some product's FLOPs are known, or there is no kernel that could have been one.
  bool tells() const { return products || known_ns == compute_ns; }

  void merge(const MfuStepSums& other) {
    step_ns += other.step_ns;
    compute_ns += other.compute_ns;
    known_ns += other.known_ns;
    recomputed_ns += other.recomputed_ns;
    model += other.model;
    recomputed += other.recomputed;
    by_profiler += other.by_profiler;
    products = products || other.products;
    for (std::size_t i = 0; i < by_type.size(); ++i) by_type[i] += other.by_type[i];
  }
};

struct MfuUnknownSums {
  std::uint64_t calls = 0;
  base::Nanos device_ns = 0;
};

struct MfuProfilerSums {
  std::uint64_t calls = 0, known = 0, differing = 0;
  Amount theirs = 0, ours = 0, theirs_of_known = 0;
};

// Of one window, or of all windows of a rank.
struct MfuSums {
  std::vector<std::pair<std::int64_t, MfuStepSums>> steps;  // by number, in order
  std::array<MfuTypeSums, kArithmetics + 1> types = {};
  std::map<std::pair<Missing, std::string>, MfuUnknownSums> unknown;
  std::map<std::string, MfuProfilerSums> profiler;
  std::vector<Peaks> devices;  // in use, with what they can do
  bool all_known = true;       // the peaks of all of them
  bool on_device = false;      // something ran on one
  std::uint64_t calls_by_profiler = 0;

  void merge(const MfuSums& other);
};

// With causal attention in full, or the pairs that its mask lets through.
MfuSums mfu_sums(const RunView& view, const WindowView& window, bool causal_in_full);

}  // namespace stepscope::analysis
