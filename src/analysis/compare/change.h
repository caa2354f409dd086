// Whether a quantity differs between two sets of runs, by how much, how well that is known, and
// what it would take to know it better. Definitions: docs/metrics/comparing.md.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analysis/compare/series.h"

namespace stepscope::analysis {

// Runs of one program differ by so much (standard deviation, of the value) though nothing was
// changed: what twelve recorded runs show. Measured instead where several runs are given.
inline constexpr double kTypicalSpread = 0.006;
inline constexpr double kMeanSpread = 0.010;
inline constexpr double spread_of(Average average) {
  return average == Average::kTypical ? kTypicalSpread : kMeanSpread;
}

struct Certainty {
  double tail = 0.025;             // probability beyond each end of the interval
  double spread = kTypicalSpread;  // between runs; 0: both sides are of one run
  double seen = 0.95;              // how often the smallest change that counts is to be seen
  double worth_seeing = 0.05;      // that change, of the value before
  std::optional<double> worth_amount = std::nullopt;  // the same as an amount; then this counts
};

// Where nothing says how much steps vary, they are taken to do by so much of themselves.
inline constexpr double kAssumedVariation = 0.04;

// What it would take to see Certainty::worth_seeing.
struct Enough {
  std::int64_t steps = 0;   // in each run, of as many as given; 0: no number of steps suffices
  std::int64_t runs = 0;    // of each side, with steps as given; 0: nor any number of runs
  bool is_assumed = false;  // nothing says how much steps vary: by kAssumedVariation
};

struct Difference {
  double before = 0, after = 0;                   // means over the runs of each side
  std::size_t steps_before = 0, steps_after = 0;  // settled, all runs of a side together
  std::size_t runs_before = 0, runs_after = 0;
  // Of after − before; nothing where a side has one step in all: then it is unknown.
  struct Bounds {
    double low = 0, high = 0;
  };
  std::optional<Bounds> bounds = std::nullopt;
  double smallest_seen = 0;  // the change that would be seen so often; of no use without bounds
  // Where it is more than what is worth seeing, or is not known.
  std::optional<Enough> enough = std::nullopt;

  double difference() const { return after - before; }
  std::optional<double> share() const {
    return before > 0 ? std::optional(difference() / before) : std::nullopt;
  }
};

// Where the mean of the runs lies against a bound that is known exactly, as if the bound were what
// it was before.
Difference against(double bound, std::span<const Estimate> runs, const Certainty& certainty);

// How many steps or runs it takes, whatever there are now. A side with one step is taken to vary as
// the other one does.
Enough needed(std::span<const Estimate> before, std::span<const Estimate> after,
              const Certainty& certainty);

// One estimate per run; none of the two may be empty.
Difference compare(std::span<const Estimate> before, std::span<const Estimate> after,
                   const Certainty& certainty);

}  // namespace stepscope::analysis
