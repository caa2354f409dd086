// A thing that is sampled: one file each, all with the same interface. A source that finds
// nothing to read says so once and stays quiet from then on.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "wire/writer.h"

namespace stepscope::capture {

// Where the sampler looks. Tests give it folders and a library of their own.

struct SystemPlace {
  std::string proc = "/proc";
  std::string sys = "/sys";
  std::string nvml = "libnvidia-ml.so.1";
  // Of this machine alone: a file system of many machines may take long to answer.
  std::vector<std::string> file_systems = {"/", "/tmp"};
  // Processor time of another process in nanoseconds; nothing where it is gone.
  std::function<std::optional<std::int64_t>(int pid)> process_cpu_ns = {};
};

// What sources saw, on its way into the node's file. A series is defined once and has a value at
// every moment it could be read; what could not be read is said once, and never a 0. One thread
// puts, any may take: a thread that waits for a driver keeps back nothing that it saw before.

enum class SeriesKind : std::uint8_t {
  kGauge,    // a value of the moment: memory, temperature
  kCounter,  // a running total that never falls: bytes, joules
};

struct NewSeries {
  std::string_view name;  // "gpu.power"
  std::string_view unit;  // "mW"
  SeriesKind kind = SeriesKind::kGauge;
  wire::Fields about = {};  // of which device, process, core
};

// What all threads that put into one file have in common.
class SampleBook {
 public:
  wire::SeriesId define(const wire::Fields& fields);
  std::string take_definitions();
  // False: it was noted already.
  bool add_notice(std::string_view source, const std::string& sentence);

 private:
  std::mutex mutex_;
  wire::SeriesId next_ = 0;
  std::string defined_;  // blocks that wait
  std::set<std::pair<std::string, std::string>> said_;
};

class Samples {
 public:
  explicit Samples(std::shared_ptr<SampleBook> book = std::make_shared<SampleBook>())
      : book_(std::move(book)) {}

  wire::SeriesId define(const NewSeries& series);

  // What follows was seen at this moment.
  void begin_moment(std::uint64_t ticks);
  std::uint64_t moment() const { return now_; }
  void put(wire::SeriesId series, std::int64_t value);
  // A value that hardly ever changes is written when it does.
  void put_if_new(wire::SeriesId series, std::int64_t value);
  // A plain sentence of a source about what it cannot see. The same one again is not repeated.
  void add_notice(std::string_view source, const std::string& sentence);

  bool has_more() const;  // since the last time
  // Everything since then, as blocks.
  void take(std::string& out);
  std::uint64_t values() const;

 private:
  std::shared_ptr<SampleBook> book_;
  std::uint64_t now_ = 0;     // of the thread that puts
  mutable std::mutex mutex_;  // of all below
  wire::SampleBlock block_;
  std::vector<std::size_t> column_of_;  // by series; kNone: has no value in this block
  std::map<wire::SeriesId, std::int64_t> last_;
  std::vector<wire::LogLine> lines_;
  std::uint64_t values_ = 0;
};

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
std::unique_ptr<Source> file_system_source(const SystemPlace& place);
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
