// Asks the sources in turn and gives what they saw as blocks. No thread, no file, no waiting: those
// are the sampler's.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "capture/system/allowance.h"
#include "capture/system/job.h"
#include "capture/system/source.h"

namespace stepscope::capture {

class Sampling {
 public:
  Sampling(const SystemPlace& place, const std::string& folder, std::int64_t interval_ns);

  // Once, before the first moment.
  void prepare();
  // One look at everything that is due. The last one: also at what must be known at the end.
  void moment(bool last = false);
  // What was seen since the last time, as blocks.
  void take(std::string& out) { samples_.take(out); }

  std::uint64_t moments() const { return moments_; }
  std::uint64_t values() const { return samples_.values(); }

 private:
  struct Turn {
    std::unique_ptr<Source> source;
    std::int64_t next_ns = 0;
    std::int64_t took_ns = 0;  // of processor time, the last time
  };
  bool is_due(std::int64_t next_ns, std::int64_t now) const;
  // Whether something that is due waits for another moment, because too much was taken already.
  bool is_put_off(std::int64_t next_ns, std::int64_t took_ns, std::int64_t now) const;

  std::int64_t interval_ns_;
  Job job_;
  Allowance allowance_;
  std::int64_t next_job_ns_ = 0, job_at_ns_ = 0, job_took_ns_ = 0;
  std::int64_t gathered_ns_ = 0;  // when all ranks of the node should be there
  std::vector<Turn> turns_;
  Samples samples_;
  std::uint64_t moments_ = 0;
};

}  // namespace stepscope::capture
