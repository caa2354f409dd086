// Records what a process does: ranges, steps, counters, log lines. One per process. Whatever goes
// wrong (a full disk, a forked child, too much at once) is counted and told, and never stops or
// slows the process it is loaded into (docs/design/0008-a-recorder-that-cannot-hurt.md).
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "capture/ring.h"
#include "capture/ticks.h"
#include "wire/format.h"
#include "wire/writer.h"

namespace stepscope::capture {

struct RecordOptions {
  std::string folder = {};            // must exist; of this rank
  std::string file = "events.scope";  // of this process; children name theirs by process id
  wire::Fields about = {};            // what else is known: rank, host, versions
};

// Fails where the file cannot be made or a recording runs already. Threads that exist and threads
// to come may record at once.
base::Status start(const RecordOptions& options);
// Writes all that is left. What other threads record meanwhile may be lost. Nothing runs: nothing
// happens.
void stop();
// Everything recorded so far is in the file when it returns.
void flush();

bool is_recording();
// Where this process writes; empty when it does not.
std::string path();
wire::Cost cost();
// The first error of the system while writing, or empty. Recording goes on as far as it can.
std::string write_error();

// Asked in each thread before its first record, for a better name than the system's; may give
// nullptr.
void name_threads(const char* (*name)());

// Text to number, the same for the life of the process. Keep the number: looking it up takes a
// lock. Names take memory for good: beyond kMostNames of them, further ones share a number.
inline constexpr std::size_t kMostNames = std::size_t{1} << 17;
wire::NameId name_id(std::string_view name);
// Whether the number is this name's alone.
bool is_name(wire::NameId id, std::string_view name);

namespace detail {

// 0 when nothing is recorded.
extern std::atomic<std::uint32_t> generation;
// Set where nothing can be called, in a signal's handler: the writer writes all that is left, and
// the recording is over.
extern std::atomic<bool> end_wanted;
// initial-exec: reading it takes one instruction, where a shared library's default is a call.
extern thread_local Ring* own_ring __attribute__((tls_model("initial-exec")));
Ring* make_ring();
void wake_writer();

inline Ring* ring() {
  const std::uint32_t now = generation.load(std::memory_order_relaxed);
  Ring* const own = own_ring;
  if (own != nullptr && own->generation() == now) return own;
  return now == 0 ? nullptr : make_ring();
}

inline void wake_if_filling(Ring& ring) {
  if (ring.filled_a_quarter()) wake_writer();
}

// False: no room. What was to follow would be taken for something of another lane.
inline bool change_lane(Ring& ring, std::uint64_t lane, std::uint64_t keep_free) {
  if (ring.lane == lane) return true;
  const wire::Record change{ticks(), wire::Record::pack(wire::RecordKind::kLane, lane)};
  if (!ring.push(change, keep_free + 1)) return false;
  ring.lane = lane;
  return true;
}

}  // namespace detail

// A lane is 0 for the thread itself, or names a coroutine's task.
inline void begin(wire::NameId name, std::uint64_t lane = 0) {
  Ring* const ring = detail::ring();
  if (ring == nullptr) return;
  if (detail::change_lane(*ring, lane, Ring::kForEnds)) {
    ring->push({ticks(), wire::Record::pack(wire::RecordKind::kBegin, name)}, Ring::kForEnds);
  }
  detail::wake_if_filling(*ring);
}

// Readers match ends by name: an end whose begin found no room closes nothing.
inline void end(wire::NameId name, std::uint64_t lane = 0) {
  Ring* const ring = detail::ring();
  if (ring == nullptr) return;
  const std::uint64_t at = ticks();  // what follows is not part of the range
  if (detail::change_lane(*ring, lane, Ring::kForSteps)) {
    ring->push({at, wire::Record::pack(wire::RecordKind::kEnd, name)}, Ring::kForSteps);
  }
  detail::wake_if_filling(*ring);
}

void instant(wire::NameId name, std::uint64_t lane = 0);
// The step of this number ends now; log lines from here on belong to the next.
void step(std::int64_t number);
// The step of this number begins now: what was since the last one ended belongs to no step.
void begin_step(std::int64_t number);
void counter(wire::NameId name, double value);
void log(std::int32_t level, std::string_view logger, std::string_view text,
         std::uint64_t lane = 0);

}  // namespace stepscope::capture
