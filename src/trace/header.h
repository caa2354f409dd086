// What a file says about itself beside its events.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace stepscope::trace {

struct ProcessRecord;  // trace/process_record.h

struct DeviceProperties {
  std::int64_t id = 0;
  std::string name;
  std::int64_t memory_bytes = 0;
  std::int64_t compute_major = 0;
  std::int64_t compute_minor = 0;
  std::int64_t multiprocessors = 0;
  std::int64_t warp_size = 0;
  std::int64_t max_threads_per_multiprocessor = 0;
  std::int64_t registers_per_multiprocessor = 0;
  std::int64_t shared_memory_per_multiprocessor = 0;
};

struct ProcessGroup {
  std::string name;
  std::string description;
  std::string backend;
  std::int64_t size = 0;
  std::vector<std::int64_t> ranks;
};

struct Distributed {
  std::string backend;
  std::optional<std::int64_t> rank;
  std::optional<std::int64_t> world_size;
  std::string nccl_version;
  std::vector<ProcessGroup> groups;
};

struct Header {
  bool bare_array = false;  // the file is a list of events and nothing else
  std::optional<std::int64_t> base_time_ns;
  std::optional<std::int64_t> schema_version;
  std::vector<DeviceProperties> devices;
  std::optional<Distributed> distributed;
  std::string host;        // host_name, or empty
  std::string trace_name;  // where the writer first put the file
  // The step that was under way when stepscope closed its window: its mark ends there, and says
  // nothing about how long the step was.
  std::optional<std::int64_t> cut_step;
  // Set where the process recorded itself (docs/formats/scope.md): ranges, steps, log lines, and
  // nothing of a device. Null for a profiler's trace.
  std::shared_ptr<const ProcessRecord> process_record;
  // Every other top-level key with its value as JSON text, in file order. Values of the keys above
  // are here too: export writes the header from this list.
  std::vector<std::pair<std::string, std::string>> metadata;
};

// What the file says of a device; null where it says nothing. Numbers of events and of properties
// may begin at different places (ROCm counts processors among its agents): where all that is
// described is of one kind, a device that is not described is taken to be of it too.
const DeviceProperties* described(const Header& header, std::int64_t device);
// Whether it is described itself, by its number.
bool is_listed(const Header& header, std::int64_t device);

}  // namespace stepscope::trace
