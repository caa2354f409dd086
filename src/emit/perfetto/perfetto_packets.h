// Writes packets of one sequence. Names and categories are interned: the first packet that uses one
// carries its text, the others its number.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "emit/output.h"
#include "emit/perfetto/perfetto_schema.h"
#include "emit/redaction/texts.h"

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
