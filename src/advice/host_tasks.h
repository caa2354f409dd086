// What rules about work of the host share: a task of the table `host-work`, per step, and the
// operators it consists of.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "advice/facts.h"
#include "advice/finding.h"

namespace stepscope::advice {

struct TaskPerStep {
  double episodes = 0, host_ns = 0, operators_ns = 0, quiet_ns = 0;
  double down = 0, down_bytes = 0, up = 0, up_bytes = 0, pageable_bytes = 0;
  std::int64_t steps = 0;  // in which it occurs
  double longest_ns = 0;
};
// Zeros where the host does nothing of it.
TaskPerStep task_of(const Facts& facts, const RankSteps& rank, std::string_view task);

// The operator that it spends most of its time in.
struct TaskOperatorOfMost {
  std::string op, purpose;
  double calls = 0, sum_ns = 0;  // per step
};
std::optional<TaskOperatorOfMost> longest_operator(const Facts& facts, const RankSteps& rank,
                                                   std::string_view task);

// Adds the operators as evidence, the longest first.
void add_operators(Finding& finding, const Facts& facts, const RankSteps& rank,
                   std::string_view task);

// Adds, as evidence, the functions of the program that the worst wait was in, where they are known.
void add_frames(Finding& finding, const Facts& facts, const RankSteps& rank, std::string_view sort);

// The time of the processor for one piece of work differs between steps and between recordings,
// with memory and neighbours: bounds leave room for that. Blocks of twelve steps of one process
// differed by 1.4 times, and eight recordings from the steps without a profiler by up to 1.5.
inline constexpr double kHostVaries = 0.3;  // so much less
inline constexpr double kHostMore = 0.5;    // so much more

}  // namespace stepscope::advice
