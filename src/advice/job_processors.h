// The processors that a job may use on a machine, what keeps them busy, and how many each of its
// ranks can have: numbers of the run, so that advice never names ones of its own.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "advice/facts.h"

namespace stepscope::advice {

struct JobProcessors {
  double usable = 0;        // by the job, on this machine
  double all = 0;           // of the machine
  double own_cores = 0;     // the job's processes kept busy, on average
  double other_cores = 0;   // all other programs did
  double wanted_cores = 0;  // own_cores, and what the first threads of its processes waited for
  bool load_known = false;
  std::int64_t ranks = 1;    // of the job on this machine
  std::int64_t started = 0;  // processes that this rank started, at the same time
  double waited_share = 0;   // of the time this rank's first thread was ready and had none

  // For one rank; at least 1.
  std::int64_t per_rank() const;
  // Threads of the training process, if each process that it started has a processor of its own.
  std::int64_t threads() const;
  // DataLoader workers beside the training process. 0: there is no processor for one.
  std::int64_t workers() const { return per_rank() - 1; }
};

// Nothing where the machine was not sampled.
std::optional<JobProcessors> job_processors(const Facts& facts, std::int32_t rank);

// The training process of a rank, or those that it started, in the table `processes`.
std::optional<Line> process_of(const Facts& facts, std::int32_t rank, bool training);

}  // namespace stepscope::advice
