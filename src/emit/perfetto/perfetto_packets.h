// Writes packets of one sequence. Names and categories are interned: the first packet that uses one
// carries its text, the others its number.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <protozero/pbf_builder.hpp>

#include "emit/output.h"
#include "emit/redaction/texts.h"
#include "trace/trace.h"

// The messages of Perfetto's trace format that we write, by field number. From
// protos/perfetto/trace of google/perfetto; the e2e test holds them to its published classes.

namespace stepscope::emit::perfetto {

enum class Trace : protozero::pbf_tag_type { kPacket = 1 };

enum class TracePacket : protozero::pbf_tag_type {
  kClockSnapshot = 6,
  kTimestamp = 8,
  kSequenceId = 10,
  kTrackEvent = 11,
  kInternedData = 12,
  kSequenceFlags = 13,
  kTrackDescriptor = 60,
};

// Bits of TracePacket::kSequenceFlags.
inline constexpr std::uint32_t kStateCleared = 1;
inline constexpr std::uint32_t kNeedsState = 2;

enum class ClockSnapshot : protozero::pbf_tag_type { kClocks = 1, kPrimaryTraceClock = 2 };
enum class Clock : protozero::pbf_tag_type { kClockId = 1, kTimestamp = 2 };
inline constexpr std::uint32_t kRealtime = 1;
inline constexpr std::uint32_t kBoottime = 6;

enum class TrackDescriptor : protozero::pbf_tag_type {
  kUuid = 1,
  kName = 2,
  kProcess = 3,
  kThread = 4,
  kParentUuid = 5,
  kCounter = 8,
  kChildOrdering = 11,
  kSiblingOrderRank = 12,
  kSiblingMergeBehavior = 15,
};
inline constexpr std::int32_t kExplicitOrder = 3;
inline constexpr std::int32_t kNeverMerge = 2;

enum class ProcessDescriptor : protozero::pbf_tag_type { kPid = 1, kProcessName = 6 };
enum class ThreadDescriptor : protozero::pbf_tag_type { kPid = 1, kTid = 2, kThreadName = 5 };
enum class CounterDescriptor : protozero::pbf_tag_type { kUnit = 3 };
inline constexpr std::int32_t kUnitBytes = 3;

enum class TrackEvent : protozero::pbf_tag_type {
  kCategoryIids = 3,
  kDebugAnnotations = 4,
  kType = 9,
  kNameIid = 10,
  kTrackUuid = 11,
  kDoubleCounterValue = 44,
  kFlowIds = 47,
  kTerminatingFlowIds = 48,
};
enum class EventType : std::int32_t { kBegin = 1, kEnd = 2, kInstant = 3, kCounter = 4 };

enum class InternedData : protozero::pbf_tag_type {
  kEventCategories = 1,
  kEventNames = 2,
  kAnnotationNames = 3,
};
enum class InternedString : protozero::pbf_tag_type { kIid = 1, kName = 2 };

enum class DebugAnnotation : protozero::pbf_tag_type {
  kNameIid = 1,
  kBool = 2,
  kUint = 3,
  kInt = 4,
  kDouble = 5,
  kString = 6,
  kArray = 12,
};

template <class Message>
using Builder = protozero::pbf_builder<Message>;

}  // namespace stepscope::emit::perfetto

namespace stepscope::emit::perfetto {

// Arguments by name; their numbers are what packets carry.
enum class Arg : std::uint8_t {
  kOrdinal,
  kDuration,  // where the slice had to be cut
  kUnclosed,
  kBadDuration,
  kExternalId,
  kSequence,
  kForwardThread,
  kCorrelation,
  kDevice,
  kStream,
  kContext,
  kGrid,
  kBlock,
  kRegisters,
  kSharedMemory,
  kBlocksPerSm,
  kWarpsPerSm,
  kOccupancy,
  kGraphId,
  kGraphNode,
  kBytes,
  kBandwidth,
  kSyncKind,
  kWaitOnStream,
  kWaitOnRecord,
  kEventId,
  kAddress,
  kTotalAllocated,
  kTotalReserved,
  kDeviceType,
  kDeviceId,
  kCollective,
  kDtype,
  kInElements,
  kOutElements,
  kGroupName,
  kGroupDescription,
  kGroupRanks,
  kGroupSize,
  kRank,
  kCollectiveSequence,
  kCommsId,
  kSourceRank,
  kDestinationRank,
  kAsynchronous,
  kInSplit,
  kOutSplit,
  kCount
};

class Packets {
 public:
  Packets(Output& out, std::uint32_t sequence, const trace::Trace& trace, const Texts& texts);

  void descriptor(std::string_view message);  // an encoded TrackDescriptor

  // An event is started, given its parts and sent.
  void start(EventType type, std::uint64_t track, std::uint64_t time);
  void name(base::StringId name);
  void category(std::uint16_t number);
  void flows(std::span<const std::uint64_t> starting, std::span<const std::uint64_t> ending);
  void counter_value(double value);
  void integer(Arg arg, std::int64_t value);
  void unsigned_integer(Arg arg, std::uint64_t value);
  void real(Arg arg, double value);
  void truth(Arg arg, bool value);
  void text(Arg arg, std::string_view value);
  void list(Arg arg, std::span<const std::uint64_t> values);
  void send();

  // For the values that are not always given: -1 and NaN are left out.
  void id(Arg arg, std::int64_t value) {
    if (value != -1) integer(arg, value);
  }

 private:
  void send_packet(std::string_view payload, TracePacket field, bool has_time);
  void intern(std::vector<bool>& known, std::size_t number, InternedData kind,
              std::string_view text);
  std::uint64_t name_of(Arg arg);

  Output& out_;
  std::uint32_t sequence_;
  const Texts& texts_;
  std::uint64_t time_ = 0;
  bool is_first_ = true;
  std::string event_, interned_, packet_, part_;  // encoded messages, kept for their memory
  std::vector<bool> known_names_, known_categories_, known_args_;
};

}  // namespace stepscope::emit::perfetto

// The arguments of an event that columns hold, as Perfetto's debug annotations.

namespace stepscope::emit::perfetto {

void add_args(Packets& packets, const trace::Trace& trace, const Texts& texts, trace::Row row);

}  // namespace stepscope::emit::perfetto
