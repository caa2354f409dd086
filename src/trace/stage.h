// Events on their way into a Trace. Readers work on stretches of the text in any order and on any
// thread; each stretch becomes a Batch, and TraceBuilder puts the batches together in file order.
// Rows here are structs, because a reader writes one whole event at a time.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/int_column.h"
#include "base/notes.h"
#include "base/pages.h"
#include "base/strings.h"
#include "base/units.h"
#include "trace/kind.h"
#include "trace/signatures.h"

namespace stepscope::trace {

// A phase as the file has it. B/E and asynchronous pairs are joined by the builder.
enum class RawPhase : std::uint8_t {
  kSpan,
  kInstant,
  kCounter,
  kBegin,
  kEnd,
  kAsyncBegin,
  kAsyncInstant,
  kAsyncEnd,
  kJoined,  // an end whose duration went to its begin: no row of its own
};

// A longer span is a writer's error: the profiler's buffers would not last for it.
inline constexpr base::Nanos kAbsurdDuration = base::Nanos{30} * 86'400 * 1'000'000'000;
// An event further than this from the middle of the others was not recorded with them.
inline constexpr base::Nanos kFarAway = base::Nanos{86'400} * 1'000'000'000;

struct EventRow {
  base::Nanos start = 0;
  base::Nanos duration = 0;
  base::StringId name = base::kNoString;  // the ids are the shard's
  std::uint32_t track = 0;
  std::uint32_t category = 0;
  std::uint32_t entry = 0;    // position among the entries of the batch
  std::uint32_t text_at = 0;  // from the batch's text_offset
  Kind kind = Kind::kOther;
  RawPhase phase = RawPhase::kSpan;
  std::uint8_t flags = 0;
};
static_assert(sizeof(EventRow) == 40);

// Side rows name their event by its index in the batch; the builder turns that into the final row.
struct OpRow {
  std::uint32_t event;
  std::int32_t forward_thread;
  std::int64_t external_id;
  std::int64_t sequence;
  SignatureId signature = kNoSignature;  // the shard's
};
struct FlopsRow {
  std::uint32_t event;
  std::int64_t flops;
};
struct StackRow {
  std::uint32_t event;
  base::StringId call_stack, module_hierarchy;
};
struct ModuleRow {
  std::uint32_t event;
  std::int32_t module_id;
};
struct LaunchRow {
  std::uint32_t event;
  std::int64_t correlation;
  std::int64_t external_id;
};
struct PythonRow {
  std::uint32_t event;
  std::int64_t id;
  std::int64_t parent_id;
};
struct DeviceRow {
  std::uint32_t event;
  std::int32_t device;
  std::int64_t stream;
  std::int64_t context;
  std::int64_t correlation;
  std::int64_t external_id;
};
struct KernelRow {
  std::uint32_t event;
  std::uint32_t grid[3];
  std::uint32_t block[3];
  std::uint32_t registers;
  std::int64_t shared_memory;
  float blocks_per_sm, warps_per_sm, occupancy_percent;
  std::int64_t graph_id, graph_node;
};
struct CopyRow {
  std::uint32_t event;
  float bandwidth_gbps;
  base::Bytes bytes;
};
struct SyncRow {
  std::uint32_t event;
  base::StringId what;
  std::int64_t wait_on_stream, wait_on_record, event_id;
};
struct MemoryRow {
  std::uint32_t event;
  std::int16_t device_type, device_id;
  std::uint64_t address;
  base::Bytes bytes, total_allocated, total_reserved;
};
struct CollectiveRow {
  std::uint32_t event;
  base::StringId name, dtype, group_name, group_description, group_ranks, in_split, out_split;
  std::int64_t in_elements, out_elements, sequence;
  std::uint64_t comms_id;
  std::int32_t group_size, rank, source_rank, destination_rank;
  std::int8_t asynchronous;
};
struct CounterRow {
  std::uint32_t event;
  base::StringId series;
  double value;
};
struct FlowRow {
  std::uint64_t id;
  base::Nanos time;
  std::uint32_t track;
  std::uint32_t entry;
  base::StringId category, name;
  char phase;
};
// The pairing key of an asynchronous event: same category, id and scope.
struct AsyncRow {
  std::uint32_t event;
  base::StringId key;
};
// process_name and its like.
struct LabelRow {
  enum class What : std::uint8_t {
    kProcessName,
    kProcessLabels,
    kProcessSort,
    kThreadName,
    kThreadSort
  };
  std::uint32_t track;
  What what;
  base::StringId text;
  std::int64_t number;
  std::uint32_t entry = 0;
};

// Rows of one type that sit in the Pages of another object.
template <class T>
using Rows = std::span<T>;

// How many rows of a batch go to a track of its shard.
struct TrackCount {
  std::uint32_t track;
  std::uint32_t rows;
  std::uint32_t first = 0;  // where the builder puts the first of them
};

struct Batch {
  std::uint32_t shard = 0;
  std::uint64_t text_offset = 0;
  std::uint32_t entries = 0;  // of traceEvents, also those that became no row
  bool needs_pairing = false;
  base::Nanos first_start = std::numeric_limits<base::Nanos>::max();
  base::Nanos last_start = std::numeric_limits<base::Nanos>::min();
  base::Nanos last_end = std::numeric_limits<base::Nanos>::min();
  base::ImportLog log;
  std::vector<TrackCount> tracks;

  base::Slice event_pages, side_pages;
  Rows<EventRow> events;
  Rows<OpRow> ops;
  Rows<FlopsRow> flops;
  Rows<StackRow> stacks;
  Rows<ModuleRow> modules;
  Rows<LaunchRow> launches;
  Rows<PythonRow> python;
  Rows<DeviceRow> device;
  Rows<KernelRow> kernels;
  Rows<CopyRow> copies;
  Rows<SyncRow> syncs;
  Rows<MemoryRow> memory;
  Rows<CollectiveRow> collectives;
  Rows<CounterRow> counters;
  Rows<FlowRow> flows;
  Rows<AsyncRow> async;
  Rows<LabelRow> labels;

  std::size_t bytes_held() const { return event_pages.size() + side_pages.size(); }
};

// Ranges that decide the width of the id columns.
struct IdRanges {
  base::IntRange external_id, sequence, forward_thread, correlation, stream, context, graph_id,
      graph_node, wait_on_stream, wait_on_record, event_id, python_id;
  void include(const IdRanges& other);
};

// One reading thread's own tables, and the batch it is filling. Nothing here is shared, so nothing
// here is locked; nor is a line of the cache, in which two threads would slow each other down.
class alignas(128) Shard {
 public:
  explicit Shard(std::uint32_t number) : number_(number) {}

  // Opens a batch whose events' offsets count from text_offset.
  void begin(std::uint64_t text_offset);
  Batch finish();

  // `raw` is text as it stands between the quotes, escapes and all.
  base::StringId intern(std::string_view raw, std::uint32_t text_at) {
    return strings_.intern(raw, text_offset_ + text_at);
  }
  std::uint32_t category(std::string_view raw, std::uint32_t text_at) {
    return categories_.intern(raw, text_offset_ + text_at);
  }
  SignatureId signature(const SignatureTexts& raw, std::uint32_t text_at) {
    return signatures_.intern(raw, text_offset_ + text_at);
  }
  std::uint32_t track(std::string_view pid, std::string_view tid, std::uint32_t text_at);
  // The kind a category alone decides; kOther when the name matters.
  Kind category_kind(std::uint32_t category) {  // asked for every event
    return category < category_kinds_.size() ? category_kinds_[category]
                                             : new_category_kind(category);
  }

  std::uint32_t next_event() const { return static_cast<std::uint32_t>(events.size()); }
  void note(base::Note note, std::uint32_t text_at, std::string_view detail = {}) {
    log_.add(note, text_offset_ + text_at, detail);
  }
  std::uint32_t entries() const { return entries_; }
  void add_entry() { ++entries_; }

  std::uint32_t number() const { return number_; }
  const base::StringPool& strings() const { return strings_; }
  const base::StringPool& categories() const { return categories_; }
  const base::StringPool& tracks() const { return tracks_; }
  const SignaturePool& signatures() const { return signatures_; }
  const IdRanges& ranges() const { return ranges_; }

  std::vector<EventRow> events;
  std::vector<OpRow> ops;
  std::vector<FlopsRow> flops;
  std::vector<StackRow> stacks;
  std::vector<ModuleRow> modules;
  std::vector<LaunchRow> launches;
  std::vector<PythonRow> python;
  std::vector<DeviceRow> device;
  std::vector<KernelRow> kernels;
  std::vector<CopyRow> copies;
  std::vector<SyncRow> syncs;
  std::vector<MemoryRow> memory;
  std::vector<CollectiveRow> collectives;
  std::vector<CounterRow> counters;
  std::vector<FlowRow> flows;
  std::vector<AsyncRow> async;
  std::vector<LabelRow> labels;

 private:
  void measure(Batch& batch);
  Kind new_category_kind(std::uint32_t category);

  std::uint32_t number_;
  std::uint64_t text_offset_ = 0;
  std::uint32_t entries_ = 0;
  base::ImportLog log_;
  base::StringPool strings_, categories_, tracks_;
  SignaturePool signatures_;
  std::vector<Kind> category_kinds_;
  std::vector<std::uint32_t> track_rows_;  // scratch: rows of this batch by shard track
  IdRanges ranges_;
  std::string track_key_;
  base::Slab event_slab_, side_slab_;
};

}  // namespace stepscope::trace
