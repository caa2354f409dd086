// What is in a run: the facts `stepscope info` shows, as text and as JSON. A pure function of the
// tables, so that both say the same and nothing is computed twice.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/notes.h"
#include "base/units.h"
#include "memory/snapshot.h"
#include "memory/stats.h"
#include "memory/timeline.h"
#include "trace/rank_record.h"
#include "trace/run.h"

namespace stepscope::report {

// Devices that look alike.
struct DeviceInfo {
  std::string name;
  std::uint64_t memory_bytes = 0;
  std::int64_t compute_major = 0, compute_minor = 0;
  std::int64_t multiprocessors = 0;
  std::int64_t warp_size = 0;
  std::uint64_t visible = 0;  // to one process, at most
};

struct NamedText {
  std::string name, text;
  bool is_code = false;  // to be pasted: no form may change a character
};
struct NamedCount {
  std::string name;
  std::uint64_t count = 0;
};

struct StepInfo {
  trace::StepSource source = trace::StepSource::kWhole;
  std::uint64_t count = 0;
  std::int64_t first = 0, last = 0;  // numbers
  base::Nanos total_ns = 0, shortest_ns = 0, longest_ns = 0;
  // Of windows whose steps a worse source gave: not among those above, whose lengths they would mix
  // with another kind of step.
  std::uint64_t others = 0;
  base::Nanos outside_ns = 0;   // of what was recorded, the time that is in none of them
  base::Nanos recorded_ns = 0;  // 0: not known
  bool is_guessed() const { return count > 0 && trace::is_guessed(source); }
  base::Nanos mean_ns() const {  // rounded
    const auto of = static_cast<base::Nanos>(count);
    return count == 0 ? 0 : (total_ns + of / 2) / of;
  }
  void add(const StepInfo& other);  // steps of a better source replace those of a worse one
};

// Events of one category, as the file spells it.
struct CategoryInfo {
  trace::Kind kind = trace::Kind::kOther;
  std::string category;
  std::uint64_t events = 0;
  std::uint64_t tracks = 0;  // threads or streams that have any
  // Time these events cover, per thread or stream, nested and overlapping ones counted once.
  base::Nanos covered_ns = 0;
};

struct LinkInfo {
  std::uint64_t device_work = 0, with_launch = 0;
  std::uint64_t launches = 0, with_operator = 0;  // launches: calls that own device work
  std::uint64_t backward = 0, with_forward = 0;
  void add(const LinkInfo& other);
};

// The highest totals the allocator reported, per device type.
struct MemoryInfo {
  std::uint64_t events = 0;
  std::uint64_t device_peak_allocated = 0, device_peak_reserved = 0;
  std::uint64_t host_peak_allocated = 0;
  void add(const MemoryInfo& other);
};

struct CollectiveInfo {
  std::uint64_t calls = 0;          // on the host
  std::uint64_t kernels = 0;        // on a device
  std::vector<NamedCount> by_name;  // of the calls, or of the kernels where there are no calls
  std::vector<std::string> groups;  // names
};

struct WindowInfo {
  std::int32_t rank = 0;
  std::uint32_t window = 0;
  trace::Source source;
  std::string host;
  std::int64_t start_unix_ns = 0;
  bool start_known = false;  // as wall-clock time
  base::Nanos span_ns = 0;
  std::uint64_t entries = 0, events = 0, device_work = 0, api_calls = 0;
  std::vector<std::int32_t> devices_used;  // their numbers, ascending
  StepInfo steps;
  LinkInfo links;
  std::uint64_t memory_bytes = 0;  // held by the tables
};

// What one process recorded of itself.
struct RecordingInfo {
  std::int32_t rank = 0;
  std::string path;
  std::string encoding;
  std::uint64_t file_bytes = 0;
  bool is_worker = false;
  std::uint64_t ranges = 0, open_ranges = 0, instants = 0;
  std::set<std::string> range_names = {};
  StepInfo steps = {};  // none: nothing marked them
  std::uint64_t log_lines = 0, warnings = 0, errors = 0;
  std::uint64_t counter_values = 0;
  std::vector<std::string> counters = {};  // names
  std::int64_t start_unix_ns = 0;
  base::Nanos length_ns = 0;  // from the first to the last look at the clocks
  // What was lost, and what recording cost.
  bool finished = false;
  std::uint64_t dropped = 0, lost_steps = 0, refused_bytes = 0;
  base::Nanos clock_set_ns = 0;
  std::uint64_t records = 0;
  base::Nanos writer_ns = 0;  // processor time; 0 where the process did not finish
};

struct NoteInfoRow {
  base::Note note = base::Note::kTruncated;
  std::uint64_t count = 0;
  std::string path;  // of the example; empty for the run as a whole
  std::uint64_t offset = base::ImportLog::kNowhere;
  std::string detail;
};

// One file of samples of a machine.
struct MachineInfo {
  std::string path, host;
  std::int64_t start_unix_ns = 0;  // of the first sample; 0: not known
  base::Nanos span_ns = 0;         // from the first sample to the last
  base::Nanos interval_ns = 0;     // wanted between two; 0: not known
  std::uint64_t samples = 0;       // moments at which it was looked at
  std::uint64_t series = 0, values = 0;
  bool finished = false;
  base::Nanos sampler_ns = 0;           // processor time; 0 where the process did not finish
  std::vector<NamedText> unseen = {};   // what could not be seen, and what says so
  std::vector<NoteInfoRow> notes = {};  // what was odd in the file
};

struct RunInfo {
  std::vector<WindowInfo> windows;  // by rank, then by start: traces, or what stands in for them
  std::vector<RecordingInfo> recordings;  // so too
  base::Nanos sampling_ns =
      0;  // of processor time: the machines' samplers, as far as they recorded it
  std::vector<trace::RankRecord> rank_records;  // by rank; nothing outside of a run folder
  std::vector<MachineInfo> machines;            // by host, then by time
  bool stood_in = false;  // nothing was traced: the windows are the recordings
  std::uint64_t ranks = 0;
  std::optional<std::int64_t> world_size;  // the largest any file gives
  std::vector<std::string> hosts, backends;
  std::vector<DeviceInfo> devices;
  bool devices_listed = false;             // a file lists devices, be it none
  std::vector<NamedText> versions;         // "CUDA" "13.0"
  std::vector<std::string> recorded_with;  // "shapes", "stacks", …
  std::vector<CategoryInfo> categories;    // the most frequent first
  StepInfo steps;
  LinkInfo links;
  MemoryInfo memory;
  std::uint64_t counter_samples = 0;
  std::vector<std::string> counter_series;
  CollectiveInfo collectives;
  std::uint64_t entries = 0, events = 0, device_work = 0, flows = 0;
  std::int64_t start_unix_ns = 0, end_unix_ns = 0;
  bool start_known = false;
  std::uint64_t file_bytes = 0, text_bytes = 0, memory_bytes = 0;
  std::vector<NoteInfoRow> notes;  // by kind, in the order of base/notes.h
  std::vector<trace::FileFailure> failures;
  std::vector<trace::SkippedFile> skipped;
  bool lost_data = false;
};

// Every file of ranks that was read.
std::vector<std::string_view> paths_of(const RunInfo& info);

// What a trace of PyTorch without device work has instead; that tells the likely reasons apart.
enum class NoDeviceCause : std::uint8_t {
  kNoDevice,   // the list of devices is there and empty
  kHostOnly,   // operators, but no call into a GPU runtime: the GPU's side was not recorded at all
  kCallsOnly,  // calls into the runtime, but not the work they started
  kCut,        // the end of the file is missing, where profilers write the GPU's work
  kEndless,    // it is there, after an event that no reader goes through
};
// Nothing when there is device work, or when the trace is of another tool.
std::optional<NoDeviceCause> cause_of_no_device_work(const RunInfo& info);

// What was recorded of memory besides the traces, and the summary of a run together with it.

struct RecordedMemory {
  std::span<const memory::Snapshot> snapshots;
  std::span<const memory::Timeline> timelines;
  std::span<const memory::Stats> stats;
};

// Some other file of the run, such as a machine's samples, for what was odd in it.
struct NotedFile {
  std::string_view path;
  const base::ImportLog* log = nullptr;
};

// Of the run, with what was odd in the memory files and others too, and with what ranks wrote down.
RunInfo summarize(const trace::Run& run, const RecordedMemory& memory,
                  std::span<const trace::RankRecord> rank_records = {},
                  std::span<const NotedFile> others = {});

}  // namespace stepscope::report
