// The messages of Perfetto's trace format that we write, by field number. From
// protos/perfetto/trace of google/perfetto; the e2e test holds them to its published classes.
#pragma once

#include <cstdint>

#include <protozero/pbf_builder.hpp>

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
