// What changed between two runs, ranks or sets of steps: a pure function of the answers that each
// side gave. Definitions: docs/metrics/comparing.md.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/compare/change.h"
#include "base/table.h"

namespace stepscope::analysis {

// One side. The answers are of the steps that are compared, without warm-up.
struct Side {
  std::string name;  // as the user calls it
  Answer steps, operators, overview;
  base::Table launched;    // see launched_work
  std::size_t warmup = 0;  // steps that were left out
};

// The rank whose typical step is longest; nothing without steps.
std::optional<std::int64_t> slowest_rank(const Answer& steps);
// Lengths of the steps of one rank, in order.
std::vector<double> step_lengths(const Answer& steps, std::int64_t rank);
// Numbers of the steps that are warm-up on any rank. Of recordings that mark no steps: none.
std::vector<std::int64_t> warmup_numbers(const Answer& steps);

// The descriptor of the answer below. It is in no registry: it asks about two runs.
extern const Analysis kDiff;

// `one_run`: both sides are of the same run, so that runs do not differ.
Answer diff(const Side& before, const Side& after, bool one_run);

}  // namespace stepscope::analysis
