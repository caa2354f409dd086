// One recorded window of one rank: columns, not structs, because every analysis reads two or three
// of them over millions of rows. Rows are sorted by track, then by start, the longer first, then by
// position in the file. So a track is a contiguous range in time order and a parent stands before
// its children. Immutable once built; times are local to the window (see Clock).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/column.h"
#include "base/notes.h"
#include "base/result.h"
#include "base/strings.h"
#include "base/units.h"
#include "trace/header.h"
#include "trace/kind.h"
#include "trace/tables.h"

namespace stepscope::trace {

enum class Phase : std::uint8_t { kSpan, kInstant, kCounter, kAsyncSpan, kAsyncInstant };

// Bits of the flags column.
enum Flag : std::uint8_t {
  kBadDuration = 1,     // negative or absurd in the file: duration() is 0 and must not be summed
  kFarTime = 2,         // more than a day from the rest: outside span()
  kUnclosed = 4,        // began and never ended: lasts to the end of the window
  kOutlivesParent = 8,  // ends after its parent by clock noise: clip before subtracting
};

struct Track {
  std::string process;                   // pid as written, number or text
  std::string thread;                    // tid as written
  std::optional<std::int64_t> pid, tid;  // when they are numbers
  std::string process_name, process_labels, thread_name;
  std::optional<std::int64_t> process_sort_index, thread_sort_index;
  bool is_device = false;    // a stream: its events are work, not calls
  std::int32_t device = -1;  // of a stream
  std::int64_t stream = -1;  // of a stream
  Row begin = 0, end = 0;    // its rows
};

enum class StepSource : std::uint8_t { kProfilerStep, kPattern, kLightning, kRepetition, kWhole };
std::string_view name_of(StepSource source);
// Nothing marks such steps, and they may be something else.
constexpr bool is_guessed(StepSource source) { return source == StepSource::kRepetition; }

struct Step {
  std::int64_t number = 0;
  Row row = kNoRow;  // the annotation, when there is one
  base::Nanos start = 0, end = 0;
};

struct Steps {
  StepSource source = StepSource::kWhole;
  std::vector<Step> list;  // by start
};

// Local time + zero_unix_ns() is Unix time. The offset is 0 until something refines it; it is
// applied on read and never baked into columns.
struct Clock {
  base::Nanos base_ns = 0;
  base::Nanos offset_ns = 0;
  bool base_known = false;
  base::Nanos zero_unix_ns() const { return base_ns + offset_ns; }
};

// The text an event was read from, for the arguments no column holds. Reading may go back to the
// file, so it can fail and is not for hot loops over random rows: ascending order is fast.
class SourceText {
 public:
  virtual ~SourceText() = default;
  // The event object's JSON text. Not thread-safe.
  virtual base::Result<std::string> event(std::uint64_t text_offset) = 0;
};

struct Span {
  base::Nanos start = 0, end = 0;
  base::Nanos length() const { return end - start; }
};

class Trace {
 public:
  std::size_t size() const { return start_.size(); }
  std::uint64_t entries() const { return entries_; }  // of traceEvents, metadata and flows included

  std::span<const base::Nanos> start() const { return start_.span(); }
  std::span<const base::Nanos> duration() const { return duration_.span(); }  // never negative
  std::span<const base::StringId> name() const { return name_.span(); }
  std::span<const std::uint16_t> category() const { return category_.span(); }
  std::span<const Kind> kind() const { return kind_.span(); }
  std::span<const Phase> phase() const { return phase_.span(); }
  std::span<const std::uint8_t> flags() const { return flags_.span(); }
  std::span<const std::uint32_t> track() const { return track_.span(); }
  std::span<const Row> parent() const { return parent_.span(); }
  std::span<const std::uint32_t> ordinal() const { return ordinal_.span(); }
  base::Nanos end(Row row) const { return start_[row] + duration_[row]; }

  std::string_view text(base::StringId id) const { return strings_[id]; }
  std::string_view name_text(Row row) const { return strings_[name_[row]]; }
  std::string_view category_text(Row row) const { return strings_[categories_[category_[row]]]; }
  const base::StringTable& strings() const { return strings_; }
  std::span<const base::StringId> categories() const { return categories_; }

  std::span<const Track> tracks() const { return tracks_; }
  const OpTable& ops() const { return ops_; }
  // What operators were called with, each once, by first appearance in the file.
  std::span<const Signature> signatures() const { return signatures_; }
  const FlopsTable& flops() const { return flops_; }
  const StackTable& stacks() const { return stacks_; }
  const PythonTable& python() const { return python_; }
  const LaunchTable& launches() const { return launches_; }
  const DeviceTable& device() const { return device_; }
  const KernelTable& kernels() const { return kernels_; }
  const CopyTable& copies() const { return copies_; }
  const SyncTable& syncs() const { return syncs_; }
  const MemoryTable& memory_events() const { return memory_; }
  const CollectiveTable& collectives() const { return collectives_; }
  const CounterTable& counters() const { return counters_; }
  const FlowTable& flows() const { return flows_; }
  const BackwardTable& backward() const { return backward_; }
  const Steps& steps() const { return steps_; }

  const Header& header() const { return header_; }
  // What a process recorded of itself; otherwise a profiler's trace.
  bool is_recording() const { return header_.process_record != nullptr; }
  const base::ImportLog& log() const { return log_; }
  const Clock& clock() const { return clock_; }
  Span span() const { return span_; }  // of all events at plausible times

  // Where an event's text begins in the decompressed file, and that text.
  std::uint64_t text_offset(Row row) const;
  base::Result<std::string> event_text(Row row) const;
  std::size_t memory() const;  // bytes held by columns, tables and strings

 private:
  friend class TraceBuilder;

  // A stretch of the text whose events share the base of their 32-bit offsets.
  struct TextBlock {
    std::uint32_t first_ordinal;
    std::uint64_t offset;
  };

  base::Column<base::Nanos> start_, duration_;
  base::Column<base::StringId> name_;
  base::Column<std::uint16_t> category_;
  base::Column<Kind> kind_;
  base::Column<Phase> phase_;
  base::Column<std::uint8_t> flags_;
  base::Column<std::uint32_t> track_;
  base::Column<Row> parent_;
  base::Column<std::uint32_t> ordinal_;
  base::Column<std::uint32_t> text_at_;  // within its TextBlock
  std::vector<TextBlock> text_blocks_;
  std::uint64_t entries_ = 0;

  base::StringTable strings_;
  std::vector<base::StringId> categories_;
  std::vector<Track> tracks_;
  OpTable ops_;
  std::vector<Signature> signatures_;
  FlopsTable flops_;
  StackTable stacks_;
  PythonTable python_;
  LaunchTable launches_;
  DeviceTable device_;
  KernelTable kernels_;
  CopyTable copies_;
  SyncTable syncs_;
  MemoryTable memory_;
  CollectiveTable collectives_;
  CounterTable counters_;
  FlowTable flows_;
  BackwardTable backward_;
  Steps steps_;
  Header header_;
  base::ImportLog log_;
  Clock clock_;
  Span span_;
  std::shared_ptr<SourceText> source_;
};

}  // namespace stepscope::trace
