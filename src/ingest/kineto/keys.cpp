#include "ingest/kineto/keys.h"

#include <array>
#include <bit>

namespace stepscope::ingest::kineto {
namespace {

constexpr std::array kArgs = std::to_array<ArgInfo>({
    {"External id", Arg::kExternalId},
    {"external id", Arg::kExternalId},
    {"correlation", Arg::kCorrelation},
    {"stream", Arg::kStream},
    {"device", Arg::kDevice},
    {"context", Arg::kContext},
    {"Sequence number", Arg::kSequence},
    {"Fwd thread id", Arg::kForwardThread},
    {"Python id", Arg::kPythonId},
    {"Python parent id", Arg::kPythonParentId},
    {"bytes", Arg::kBytes},
    {"Bytes", Arg::kBytes},
    {"size", Arg::kSize},
    {"memory bandwidth (GB/s)", Arg::kBandwidth},
    {"registers per thread", Arg::kRegisters},
    {"shared memory", Arg::kSharedMemory},
    {"blocks per SM", Arg::kBlocksPerSm},
    {"warps per SM", Arg::kWarpsPerSm},
    {"est. achieved occupancy %", Arg::kOccupancy},
    {"theoretical occupancy %", Arg::kOccupancy},
    {"grid", Arg::kGrid},
    {"block", Arg::kBlock},
    {"graph id", Arg::kGraphId},
    {"graph node id", Arg::kGraphNode},
    {"Total Allocated", Arg::kTotalAllocated},
    {"Total Reserved", Arg::kTotalReserved},
    {"Addr", Arg::kAddress},
    {"Device Type", Arg::kDeviceType},
    {"Device Id", Arg::kDeviceId},
    {"cuda_sync_kind", Arg::kSyncKind},
    {"wait_on_stream", Arg::kWaitOnStream},
    {"wait_on_cuda_event_record_corr_id", Arg::kWaitOnRecord},
    {"wait_on_cuda_event_id", Arg::kEventId},
    {"event_id", Arg::kEventId},
    {"Collective name", Arg::kCollectiveName},
    {"dtype", Arg::kDtype},
    {"In msg nelems", Arg::kInElements},
    {"Out msg nelems", Arg::kOutElements},
    {"Group size", Arg::kGroupSize},
    {"Process Group Name", Arg::kGroupName},
    {"Process Group Description", Arg::kGroupDescription},
    {"Process Group Ranks", Arg::kGroupRanks},
    {"Rank", Arg::kRank},
    {"Seq", Arg::kCollectiveSequence},
    {"Comms Id", Arg::kCommsId},
    {"Src Rank", Arg::kSourceRank},
    {"Dst Rank", Arg::kDestinationRank},
    {"Is asynchronized op", Arg::kAsynchronous},
    {"In split size", Arg::kInSplit},
    {"Out split size", Arg::kOutSplit},
    {"name", Arg::kLabelName},
    {"labels", Arg::kLabels},
    {"sort_index", Arg::kSortIndex},
});

struct FieldInfo {
  std::string_view key;
  Field field;
};
constexpr std::array kFields = std::to_array<FieldInfo>({
    {"ph", Field::kPhase},
    {"cat", Field::kCategory},
    {"name", Field::kName},
    {"pid", Field::kPid},
    {"tid", Field::kTid},
    {"ts", Field::kTime},
    {"dur", Field::kDuration},
    {"args", Field::kArgs},
    {"id", Field::kId},
    {"scope", Field::kScope},
});

// The last (at most) 8 bytes of a key, the last in the highest byte, zero below a shorter key.
constexpr std::uint64_t tail_of(std::string_view key) {
  std::uint64_t tail = 0;
  for (std::size_t i = key.size() > 8 ? key.size() - 8 : 0; i < key.size(); ++i) {
    tail = tail >> 8 | static_cast<std::uint64_t>(static_cast<unsigned char>(key[i])) << 56;
  }
  return tail;
}

// The same from text: load 8 bytes and clear everything up to the opening quote if it is among them.
std::uint64_t tail_before(const char* quote) {
  std::uint64_t word = 0;
  std::memcpy(&word, quote - 8, 8);
  if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap64(word);
  constexpr std::uint64_t kOnes = 0x0101010101010101;
  constexpr std::uint64_t kHighs = 0x8080808080808080;
  const std::uint64_t x = word ^ (kOnes * '"');
  // Exact for the highest zero byte when scanned from the top: mark all zero bytes without borrow.
  const std::uint64_t zeros = ~(((x & ~kHighs) + ~kHighs) | x | ~kHighs);
  if (zeros == 0) return word;
  const int top = 63 - std::countl_zero(zeros);  // highest bit of the last quote's byte
  if (top == 63) return 0;                       // an empty key
  return word >> (top + 1) << (top + 1);
}

// A multiplier under which no two tails of the table collide in kSlots slots, found at compile time.
constexpr std::size_t kSlotBits = 9;
constexpr std::size_t kSlots = std::size_t{1} << kSlotBits;

constexpr std::size_t slot_of(std::uint64_t tail, std::uint64_t multiplier) {
  return static_cast<std::size_t>(tail * multiplier >> (64 - kSlotBits));
}

constexpr bool separates(std::uint64_t multiplier) {
  std::array<std::uint64_t, kSlots> taken{};
  for (const ArgInfo& info : kArgs) {
    const std::uint64_t tail = tail_of(info.key);
    std::uint64_t& slot = taken[slot_of(tail, multiplier)];
    if (slot != 0 && slot != tail) return false;
    slot = tail;
  }
  return true;
}

constexpr std::uint64_t find_multiplier() {
  std::uint64_t candidate = 0x9e3779b97f4a7c15;
  while (!separates(candidate)) candidate = candidate * 6364136223846793005 | 1;
  return candidate;
}

// Keys that share their last 8 bytes ("External id" and "external id") follow each other in a slot.
constexpr std::size_t kPerSlot = 4;
struct Slot {
  std::array<std::uint8_t, kPerSlot> infos{};  // index + 1 into kArgs
};

constexpr std::uint64_t kMultiplier = find_multiplier();

constexpr std::array<Slot, kSlots> make_slots() {
  std::array<Slot, kSlots> slots{};
  for (std::size_t i = 0; i < kArgs.size(); ++i) {
    Slot& slot = slots[slot_of(tail_of(kArgs[i].key), kMultiplier)];
    std::size_t at = 0;
    while (slot.infos[at] != 0) ++at;
    slot.infos[at] = static_cast<std::uint8_t>(i + 1);
  }
  return slots;
}
constexpr std::array<Slot, kSlots> kArgSlots = make_slots();

bool ends_with_key(const char* quote, std::string_view key) {
  return std::memcmp(quote - key.size(), key.data(), key.size()) == 0 &&
         quote[-1 - static_cast<std::ptrdiff_t>(key.size())] == '"';
}

}  // namespace

ArgType type_of(Arg arg) {
  switch (arg) {
    case Arg::kBandwidth:
    case Arg::kBlocksPerSm:
    case Arg::kWarpsPerSm:
    case Arg::kOccupancy:
      return ArgType::kReal;
    case Arg::kSyncKind:
    case Arg::kCollectiveName:
    case Arg::kDtype:
    case Arg::kGroupName:
    case Arg::kGroupDescription:
    case Arg::kGroupRanks:
    case Arg::kInSplit:
    case Arg::kOutSplit:
    case Arg::kLabelName:
    case Arg::kLabels:
      return ArgType::kText;
    case Arg::kGrid:
    case Arg::kBlock:
      return ArgType::kTriple;
    case Arg::kAsynchronous:
      return ArgType::kTruth;
    default:
      return ArgType::kInteger;
  }
}

Field field_of(std::string_view key) {
  for (const FieldInfo& info : kFields) {
    if (info.key == key) return info.field;
  }
  return Field::kNone;
}

Arg arg_of(std::string_view key) {
  for (const ArgInfo& info : kArgs) {
    if (info.key == key) return info.arg;
  }
  return Arg::kNone;
}

Field field_before(const char* quote) {
  switch (tail_before(quote)) {
    case tail_of("ph"):
      return Field::kPhase;
    case tail_of("cat"):
      return Field::kCategory;
    case tail_of("name"):
      return Field::kName;
    case tail_of("pid"):
      return Field::kPid;
    case tail_of("tid"):
      return Field::kTid;
    case tail_of("ts"):
      return Field::kTime;
    case tail_of("dur"):
      return Field::kDuration;
    case tail_of("args"):
      return Field::kArgs;
    case tail_of("id"):
      return Field::kId;
    case tail_of("scope"):
      return Field::kScope;
    default:
      return Field::kNone;
  }
}

Arg arg_before(const char* quote) {
  const Slot& slot = kArgSlots[slot_of(tail_before(quote), kMultiplier)];
  for (const std::uint8_t index : slot.infos) {
    if (index == 0) break;
    const ArgInfo& info = kArgs[index - 1U];
    if (ends_with_key(quote, info.key)) return info.arg;
  }
  return Arg::kNone;
}

}  // namespace stepscope::ingest::kineto
