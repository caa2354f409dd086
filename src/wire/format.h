// What a recorded process writes: a file of blocks, each with a checksum, appended in order. Any
// beginning of such a file can be read, and a reader that meets damage goes on with the next block
// (docs/formats/scope.md). Numbers are little-endian.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace stepscope::wire {

// The first bytes of a file; the last of them is the version.
inline constexpr std::array<char, 8> kMagic = {'\x89', 'S', 'C', 'O', 'P', 'E', '\n', '\x01'};

// Before each block: mark, kind, length of the payload, checksum of kind, length and payload.
inline constexpr std::uint32_t kBlockMark = 0x6b6c6253;  // "Sblk"
inline constexpr std::size_t kBlockHeaderBytes = 16;
// A longer payload is damage, not a block.
inline constexpr std::size_t kMostPayloadBytes = std::size_t{1} << 22;

enum class BlockKind : std::uint32_t {
  kProcess = 1,   // who recorded: pairs of texts
  kAnchor = 2,    // what the clocks said at one moment
  kNames = 3,     // texts that records name by number
  kThread = 4,    // a thread that records from here on
  kEvents = 5,    // records of one thread
  kLogs = 6,      // log lines of any thread
  kDropped = 7,   // records of a thread, of all threads, or log lines that found no room
  kEnd = 8,       // the process finished its recording, and what that cost
  kSeries = 9,    // something that is sampled from here on: pairs of texts
  kSamples = 10,  // values of series at some moments
};

enum class RecordKind : std::uint8_t {
  kBegin = 0,    // of a range
  kEnd = 1,      // of the innermost open range of that name
  kInstant = 2,  // something happened
  kLane = 3,     // what follows on this thread belongs to another lane; 0 is the thread itself
  kStep = 4,     // a training step ends or begins (StepMark); its number follows
  kCounter = 5,  // a value follows
};
inline constexpr std::uint8_t kRecordKinds = 6;

// What a record of a step is about.
enum StepMark : std::uint8_t {
  kStepBegins = 1,  // else it ends
  kMarksLost = 2,   // marks before it found no room: where the step under way began is unknown
};

// Texts are cut there.
inline constexpr std::size_t kLongestText = std::size_t{1} << 16;

using NameId = std::uint32_t;
using ThreadId = std::uint32_t;
// In place of a thread, where records were lost: log lines of any; whatever any recorded.
inline constexpr ThreadId kLogLines = 0;
inline constexpr ThreadId kAllThreads = 0xffffffff;
using SeriesId = std::uint32_t;

// One record as it leaves a thread: 16 bytes. Steps and counters take two; the second holds the
// number or the value.
struct Record {
  std::uint64_t ticks = 0;
  std::uint64_t word = 0;  // kind in the low byte, name or lane above

  static constexpr std::uint64_t pack(RecordKind kind, std::uint64_t what) {
    return what << 8 | static_cast<std::uint64_t>(kind);
  }
  RecordKind kind() const { return static_cast<RecordKind>(word & 0xff); }
  std::uint64_t what() const { return word >> 8; }
};
static_assert(sizeof(Record) == 16);

constexpr bool has_value(RecordKind kind) {
  return kind == RecordKind::kStep || kind == RecordKind::kCounter;
}

// What the clocks said at one moment.
struct Anchor {
  std::uint64_t ticks = 0;
  std::int64_t monotonic_ns = 0;
  std::int64_t wall_ns = 0;  // since 1970
};

}  // namespace stepscope::wire
