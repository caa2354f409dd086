// A thing that is sampled: one file each, all behind the same question. A source that finds
// nothing to read says so once and stays quiet from then on.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "capture/system/place.h"
#include "capture/system/samples.h"

namespace stepscope::capture {

class Job;

class Source {
 public:
  Source() = default;
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;
  virtual ~Source() = default;

  // Once, before the first sample: what takes long.
  virtual void prepare(Samples& /*samples*/) {}
  virtual void sample(Samples& samples) = 0;
  // At the last moment, whether it is its turn or not. False: it is asked as ever.
  virtual bool sample_last(Samples& /*samples*/) { return false; }
  // It is not asked more often than this.
  virtual std::int64_t least_interval_ns() const { return 0; }
};

std::unique_ptr<Source> processor_source(const SystemPlace& place);
std::unique_ptr<Source> memory_source(const SystemPlace& place);
std::unique_ptr<Source> disk_source(const SystemPlace& place);
std::unique_ptr<Source> network_source(const SystemPlace& place);
std::unique_ptr<Source> cgroup_source(const SystemPlace& place);
std::unique_ptr<Source> rapl_source(const SystemPlace& place);
// Both read the job's processes, which must outlive them.
std::unique_ptr<Source> process_source(const SystemPlace& place, const Job& job);
std::unique_ptr<Source> shared_memory_source(const SystemPlace& place, const Job& job);
std::unique_ptr<Source> amd_source(const SystemPlace& place, const Job& job);

// All of them. NVIDIA's GPUs are asked apart (nvidia.h): their driver may take long.
std::vector<std::unique_ptr<Source>> all_sources(const SystemPlace& place, const Job& job);

}  // namespace stepscope::capture
