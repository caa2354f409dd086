// Steps of a recording during which nothing but the training ran: no profiler, no history of the
// allocator. They are the ones whose length means something. Definitions:
// docs/metrics/comparing.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "analysis/view.h"
#include "trace/rank_record.h"

namespace stepscope::analysis {

// Where traced steps are there too, fewer than this are not taken: they are the first of a run.
inline constexpr std::size_t kFewestUntraced = 5;

enum class Warmup : std::uint8_t { kLeftOut, kKept };

struct UntracedSteps {
  std::map<std::int64_t, std::vector<double>> lengths;  // by rank, in order; none is empty
  std::vector<std::int64_t> numbers;                    // of all ranks together, sorted
  // Left out of the slowest rank, which is the one that is compared: steps at the beginning, and
  // those in windows, before them and in which they were closed.
  std::size_t warmup = 0;
  std::size_t in_windows = 0;

  // The rank whose typical step is longest; nothing without steps.
  std::optional<std::int64_t> slowest() const;
};

// Of the steps that the view selects. The records say when windows were open.
UntracedSteps untraced_steps(const RunView& view, std::span<const trace::RankRecord> records,
                             Warmup warmup);

}  // namespace stepscope::analysis
