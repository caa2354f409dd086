// Why a loader does not keep up, from what its workers recorded of themselves: slow storage, an
// expensive transform, too few workers or cores.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "advice/facts.h"
#include "advice/finding.h"
#include "advice/job_processors.h"

namespace stepscope::advice {

struct LoaderCause {
  std::string loader = {};
  bool watched = false;      // else the rest is not known
  std::string cause = {};    // as the analysis `loader` names it; empty: not known
  bool late = false;         // some waits were long enough to count as such
  std::int64_t workers = 0;  // 0: the training loop itself
  std::int64_t late_worker = -1;
  std::int64_t passes = 1;       // over the loader
  bool restarts = true;          // its workers are new processes in each pass
  double first_wait_ns = 0;      // for the first batch of one
  double first_waits_share = 0;  // of all the waiting: for first batches
  double make_ns = 0;            // one batch; 0: not known
  std::int64_t needed = 0;  // workers that would keep up, as `loader` counts them; 0: not known
  double fetch_share = 0, transform_share = 0, collate_share = 0, starved_share = 0;
  double cpu_cores = 0;        // that making a batch keeps busy
  double bytes_per_batch = 0;  // read
  double batch_bytes = 0;      // of one batch; 0: not known
  double files_per_batch = 0;  // opened; 0: none, or not known
  bool reads_files = true;     // false: all it needs is in memory already
  bool on_gpu = true;
  bool several_ranks = false;  // of the job, which may share a machine
  std::optional<JobProcessors> cpus = std::nullopt;

  // Whether most of it is for first batches, while workers start.
  bool waits_at_start() const;
  // Whether the waiting is for want of workers: the same work by more processes would come in time.
  bool has_too_few() const;
  // That and they start anew in each pass, which persistent workers do not.
  bool starts_again() const { return waits_at_start() && passes > 1 && workers > 0 && restarts; }
  // And there are processors for more of them.
  bool workers_help() const;
  // More would be needed than the rank has processors for.
  bool processors_lack() const;
  // Workers that one processor can serve: several, where they spend their time waiting.
  std::int64_t per_core() const;
  // `needed`, and of workers that wait not more than anybody starts.
  std::int64_t wanted() const;
  // That the rank's processors beside the training loop can serve; only where those are known.
  std::int64_t served() const;
  // For all that are wanted, and the training loop.
  std::int64_t processors_to_ask_for() const;
  // To be written in the script: those that are wanted, and never more than the rank has processors
  // for. Text, because where the processors are not known the program must count them itself.
  std::string workers_to_set() const;
  // Far more is read than a batch holds: whole files or chunks for a part of each.
  bool reads_too_much() const;
  void explain(Sentence& into) const;
  std::optional<Change> change() const;

 private:
  void say_needed(Sentence& into) const;
};

// Of the training loader of this rank that was waited for longest.
LoaderCause loader_cause(const Facts& facts, std::int32_t rank);

}  // namespace stepscope::advice
