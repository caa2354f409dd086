// The names a trace event uses for its members and arguments, in every spelling since 2021. Adding
// an argument that the model should hold means a row in the table and a line in stager.cpp.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace stepscope::ingest::kineto {

enum class Field : std::uint8_t {
  kNone,
  kPhase,
  kCategory,
  kName,
  kPid,
  kTid,
  kTime,
  kDuration,
  kArgs,
  kId,
  kScope,
};

enum class Arg : std::uint8_t {
  kExternalId,
  kCorrelation,
  kStream,
  kDevice,
  kContext,
  kSequence,
  kForwardThread,
  kPythonId,
  kPythonParentId,
  kBytes,
  kSize,
  kBandwidth,
  kRegisters,
  kSharedMemory,
  kBlocksPerSm,
  kWarpsPerSm,
  kOccupancy,
  kGrid,
  kBlock,
  kGraphId,
  kGraphNode,
  kTotalAllocated,
  kTotalReserved,
  kAddress,
  kDeviceType,
  kDeviceId,
  kSyncKind,
  kWaitOnStream,
  kWaitOnRecord,
  kEventId,
  kCollectiveName,
  kDtype,
  kInElements,
  kOutElements,
  kGroupSize,
  kGroupName,
  kGroupDescription,
  kGroupRanks,
  kRank,
  kCollectiveSequence,
  kCommsId,
  kSourceRank,
  kDestinationRank,
  kAsynchronous,
  kInSplit,
  kOutSplit,
  kLabelName,
  kLabels,
  kSortIndex,
  kInputDims,
  kInputTypes,
  kInputStrides,
  kConcreteInputs,
  kFlops,
  kCallStack,
  kModuleHierarchy,
  kPythonModuleId,
  kTaskType,
  kCount,
  kNone = kCount
};

// How the value of an argument is kept; kList as JSON text, whatever is in it.
enum class ArgType : std::uint8_t { kInteger, kReal, kText, kTriple, kTruth, kList };

// By argument; kNone counts as an integer that is not read.
extern const std::array<ArgType, static_cast<std::size_t>(Arg::kCount) + 1> kArgTypes;
inline ArgType type_of(Arg arg) { return kArgTypes[static_cast<std::size_t>(arg)]; }

Field field_of(std::string_view key);
Arg arg_of(std::string_view key);

// The same look-ups for the fast scanner, which knows only where a key ends: `quote` is its closing
// quote, and at least 64 readable bytes stand before it.
Field field_before(const char* quote);
Arg arg_before(const char* quote);

// How they work, in the header because they are called for every key of every event: a key is known
// by its last eight bytes, and, if it is longer than that, by its first eight as well.
namespace keys {

// The last (at most) 8 bytes of a key, the last in the highest byte, zero below a shorter key.
constexpr std::uint64_t tail_of(std::string_view key) {
  std::uint64_t tail = 0;
  for (std::size_t i = key.size() > 8 ? key.size() - 8 : 0; i < key.size(); ++i) {
    tail = tail >> 8 | static_cast<std::uint64_t>(static_cast<unsigned char>(key[i])) << 56;
  }
  return tail;
}

inline std::uint64_t load(const char* at) {
  std::uint64_t word = 0;
  std::memcpy(&word, at, 8);
  if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap64(word);
  return word;
}

// tail_of() from text: clears everything up to the opening quote if it is among the eight bytes.
inline std::uint64_t tail_before(const char* quote) {
  const std::uint64_t word = load(quote - 8);
  constexpr std::uint64_t kHighs = 0x8080808080808080;
  const std::uint64_t x = word ^ 0x2222222222222222;
  const std::uint64_t zeros = ~(((x & ~kHighs) + ~kHighs) | x | ~kHighs);
  // Two shifts each way: a quote in the last byte would shift by 64.
  const int kept = std::countl_zero(zeros);  // 64 when there is none
  const std::uint64_t mask = kept == 64 ? ~std::uint64_t{0} : ~(~std::uint64_t{0} >> kept);
  return word & mask;
}

struct Slot {
  std::uint64_t tail = 0;
  std::uint64_t head = 0;       // first 8 bytes of a key longer than 8, else 0
  std::uint64_t head_mask = 0;  // all ones for these
  std::int8_t head_at = 0;      // from the closing quote, negative
  std::int8_t size = 0;
  const char* whole = nullptr;  // of a key longer than 16: its text, for the bytes between
  Arg arg = Arg::kNone;
  std::uint8_t next = 0;  // another key with the same tail
};

inline constexpr std::size_t kSlotBits = 9;
struct Slots {
  std::uint64_t multiplier;
  std::array<Slot, (std::size_t{1} << kSlotBits) + 8> slots;  // keys with equal tails at the end
};
extern const Slots kSlots;

// How the key of an argument begins; of one with several names, the first.
struct Start {
  std::uint64_t head = 0, head_mask = 0;
  std::int8_t head_at = 0;
  const char* whole = nullptr;
};
extern const std::array<Start, static_cast<std::size_t>(Arg::kCount)> kStarts;

}  // namespace keys

// Written so that knowing a key and not knowing it take the same path: which of the two it is
// alternates too fast to be guessed.
inline Arg arg_before(const char* quote) {
  const std::uint64_t tail = keys::tail_before(quote);
  const auto hash =
      static_cast<std::size_t>(tail * keys::kSlots.multiplier >> (64 - keys::kSlotBits));
  const keys::Slot* slot = &keys::kSlots.slots[hash];
  const auto is = [&](const keys::Slot& s) {
    const std::uint64_t head = keys::load(quote + s.head_at) & s.head_mask;
    const unsigned same = static_cast<unsigned>(s.tail == tail) &
                          static_cast<unsigned>(head == s.head) &
                          static_cast<unsigned>(quote[-1 - s.size] == '"');
    return same != 0 && (s.whole == nullptr || std::memcmp(quote + s.head_at, s.whole,
                                                           static_cast<std::size_t>(s.size)) == 0);
  };
  const bool found = is(*slot);
  while (!found && slot->next != 0) {
    slot = &keys::kSlots.slots[(std::size_t{1} << keys::kSlotBits) + slot->next - 1];
    if (is(*slot)) return slot->arg;
  }
  return found ? slot->arg : Arg::kNone;
}

// Could the key before `quote` be an argument's, by its last eight bytes alone?
inline bool may_end_argument(const char* quote) {
  const std::uint64_t tail = keys::tail_before(quote);
  return keys::kSlots.slots[tail * keys::kSlots.multiplier >> (64 - keys::kSlotBits)].tail == tail;
}

// For an argument whose last eight bytes are known to match: does the whole key?
inline bool begins_argument(Arg arg, const char* quote) {
  const keys::Start& start = keys::kStarts[static_cast<std::size_t>(arg)];
  if ((keys::load(quote + start.head_at) & start.head_mask) != start.head) return false;
  if (quote[start.head_at - 1] != '"') return false;
  return start.whole == nullptr || std::memcmp(quote + start.head_at, start.whole,
                                               static_cast<std::size_t>(-start.head_at)) == 0;
}

inline Field field_before(const char* quote) {
  switch (keys::tail_before(quote)) {
    case keys::tail_of("ph"):
      return Field::kPhase;
    case keys::tail_of("cat"):
      return Field::kCategory;
    case keys::tail_of("name"):
      return Field::kName;
    case keys::tail_of("pid"):
      return Field::kPid;
    case keys::tail_of("tid"):
      return Field::kTid;
    case keys::tail_of("ts"):
      return Field::kTime;
    case keys::tail_of("dur"):
      return Field::kDuration;
    case keys::tail_of("args"):
      return Field::kArgs;
    case keys::tail_of("id"):
      return Field::kId;
    case keys::tail_of("scope"):
      return Field::kScope;
    default:
      return Field::kNone;
  }
}

}  // namespace stepscope::ingest::kineto
