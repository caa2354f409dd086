// What the steps of a run say: how long they took on its slowest rank, and which of them are
// warm-up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/compare/gate.h"
#include "analysis/view.h"
#include "trace/rank_record.h"

namespace stepscope::analysis {

// Steps of a recording during which nothing but the training ran: no profiler, no history of the
// allocator. They are the ones whose length means something. Definitions:
// docs/metrics/comparing.md.

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

// The rank whose typical step is longest; nothing without steps.
std::optional<std::int64_t> slowest_rank(const Answer& steps);
// Lengths of the steps of one rank, in order.
std::vector<double> step_lengths(const Answer& steps, std::int64_t rank);
// Numbers of the steps that are warm-up on any rank. Of recordings that mark no steps: none.
std::vector<std::int64_t> warmup_numbers(const Answer& steps);

// Steps of a run in two answers: those of the analysis `steps`, and those outside of windows.
struct RunSteps {
  const Answer* steps = nullptr;
  const UntracedSteps* untraced = nullptr;
  bool is_traced = true;  // a profiler ran during `steps`; else they were recorded, windows or not
};
// The samples of step times, each of the slowest rank: of steps that nothing but the training took
// part in where there are such, of traced ones beside them.
void add_step_times(const RunSteps& of, RunSamples& out);
// The rank whose lengths steps_of() gives for what was chosen.
std::optional<std::int64_t> rank_of_steps(const RunSteps& of, StepKind chosen);

}  // namespace stepscope::analysis
