// Asks the sources in turn and gives what they saw as blocks. No thread, no file, no waiting: those
// are the sampler's.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "capture/system/job.h"
#include "capture/system/pace.h"
#include "capture/system/source.h"

namespace stepscope::capture {

class Sampling {
 public:
  Sampling(const SystemPlace& place, const std::string& folder, std::int64_t interval_ns,
           std::shared_ptr<SampleBook> book = std::make_shared<SampleBook>());

  // Once, before the first moment.
  void prepare();
  // One look at everything that is due. The last one: also at what must be known at the end.
  // `elsewhere_ns`: processor time that other threads have used for samples, which counts too.
  void moment(bool last = false, std::int64_t elsewhere_ns = 0);
  // What was seen since the last time, as blocks.
  void take(std::string& out) { samples_.take(out); }

  std::uint64_t moments() const { return moments_; }
  std::uint64_t values() const { return samples_.values(); }
  bool is_overdrawn() const { return allowance_.is_overdrawn(); }
  const Job& job() const { return job_; }

 private:
  struct Turn {
    std::unique_ptr<Source> source;
    Pace pace;
  };
  // Takes `before` on to the processor time of when it was done.
  void look_at_job(std::int64_t now, std::int64_t& before);

  std::int64_t interval_ns_;
  Job job_;
  Allowance allowance_;
  Pace job_pace_;
  std::int64_t job_at_ns_ = 0;
  std::int64_t gathered_ns_ = 0;  // when all ranks of the node should be there
  std::vector<Turn> turns_;
  Samples samples_;
  std::uint64_t moments_ = 0;
};

}  // namespace stepscope::capture
