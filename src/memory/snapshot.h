// What a process' allocator remembered: the segments it holds, the blocks they are cut into, and
// the history of what it did, per device. As recorded; what it means is worked out by analyses.
// Immutable once read. Only what lies between the start of the recording and the snapshot is here:
// older history may have been overwritten, and memory may be older than the history.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/column.h"
#include "base/notes.h"
#include "base/strings.h"
#include "base/units.h"
#include "memory/stacks.h"

namespace stepscope::memory {

enum class Action : std::uint8_t {
  kAlloc,          // handed to the program; size is what it asked for, before rounding
  kFreeRequested,  // given back by the program, but a stream may still use it
  kFreeCompleted,  // reusable from here on
  kSegmentAlloc,   // taken from the driver
  kSegmentFree,
  kSegmentMap,  // pages of an expandable segment
  kSegmentUnmap,
  kOom,       // address holds what the driver had free; size what was asked
  kSnapshot,  // the snapshot itself
  kAnnotate,  // a note on a live allocation
  kUnknown,   // a newer torch's; its name is the event's note
  kCount
};
std::string_view name_of(Action action);

inline constexpr base::Nanos kNoTime = -1;  // torch 2.1 and 2.2 recorded none

// Private pools of CUDA graphs have ids of their own; the common pool is {0, 0}.
struct PoolId {
  std::int64_t first = 0, second = 0;
  auto operator<=>(const PoolId&) const = default;
};
inline constexpr std::uint16_t kUnknownPool = 0xffff;

// What one allocator did, oldest first. One per device that has a history.
struct History {
  std::int32_t device = 0;
  bool is_host = false;  // pinned host memory
  base::Column<Action> action;
  base::Column<std::uint64_t> address;
  base::Column<base::Bytes> size;
  base::Column<std::int64_t> stream;
  base::Column<base::Nanos> time;     // since 1970, or kNoTime
  base::Column<StackId> stack;        // or kNoStack
  base::Column<StackId> forward;      // where the forward of a backward operator was called
  base::Column<std::uint16_t> pool;   // index into Snapshot::pools, or kUnknownPool
  base::Column<base::StringId> note;  // user_metadata, or kNoString
  base::Column<base::StringId> compile_context;  // or kNoString
  std::size_t length() const { return action.size(); }
};

enum class BlockState : std::uint8_t { kActive, kPendingFree, kInactive, kUnknown };

struct Block {
  std::uint64_t address = 0;
  base::Bytes size = 0;
  base::Bytes requested = 0;  // 0 for what is free
  BlockState state = BlockState::kUnknown;
  StackId stack = kNoStack;
};

struct Segment {
  std::int32_t device = 0;
  bool is_host = false;
  bool is_large = true;  // of the pool of large allocations
  bool is_expandable = false;
  std::uint64_t address = 0;
  base::Bytes total = 0, allocated = 0, active = 0, requested = 0;
  std::int64_t stream = 0;
  std::uint16_t pool = 0;  // index into Snapshot::pools
  StackId stack = kNoStack;
  std::uint32_t first_block = 0, blocks = 0;  // in Snapshot::blocks, by address
};

// The begin and end of a record_function span.
struct Annotation {
  base::StringId name = base::kNoString;
  std::int32_t device = 0;
  base::Nanos time = kNoTime;
  bool is_start = true;
};

// The allocator's settings; what an older torch did not write is not set.
struct Settings {
  bool known = false;
  std::string conf;                           // PYTORCH_CUDA_ALLOC_CONF
  std::optional<base::Bytes> max_split_size;  // not set: no limit
  std::optional<double> garbage_collection_threshold;
  std::optional<bool> expandable_segments;
  std::optional<base::Bytes> max_round_threshold, max_cached_size;
  std::optional<bool> history_overflowed;
  std::optional<std::int64_t> history_max_entries;
  std::vector<std::pair<std::int64_t, std::int64_t>> roundup_power2_divisions;  // MiB, divisions
  std::vector<std::pair<std::string, std::string>> all;  // every key, its value as text
};

// What the process itself said lies where, at the moment of the snapshot.
enum class Content : std::uint8_t { kParameters, kGradients, kOptimizerState };
struct KnownContent {
  std::uint64_t address = 0;
  base::Bytes bytes = 0;
  Content content = Content::kParameters;
};

struct Source {
  std::string path;
  std::string encoding;  // "plain", "gzip" or "zstd"
  std::string format;    // "pickle protocol 4", …
  std::uint64_t file_bytes = 0, data_bytes = 0;
};

struct Snapshot {
  Source source;
  std::optional<std::int32_t> rank;
  base::StringTable strings;
  Stacks stacks;
  std::vector<PoolId> pools = {{0, 0}};
  std::vector<History> histories;  // by device, pinned host memory last
  std::vector<Segment> segments;   // in file order
  std::vector<Block> blocks;
  std::vector<Annotation> annotations;
  Settings settings;
  std::vector<KnownContent> known;  // by address; empty: nobody wrote it down
  base::ImportLog log;

  std::string_view text(base::StringId id) const { return strings[id]; }
  std::span<const Block> blocks_of(const Segment& segment) const {
    return std::span(blocks).subspan(segment.first_block, segment.blocks);
  }
  std::size_t memory() const;  // bytes held
};

}  // namespace stepscope::memory
