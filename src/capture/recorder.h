// Records what a process does: ranges, steps, counters, log lines. One per process. Whatever goes
// wrong (a full disk, a forked child, too much at once) is counted and reported, and never stops or
// slows the process it is loaded into (docs/design/0008-a-recorder-that-cannot-hurt.md).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "capture/ticks.h"
#include "wire/format.h"
#include "wire/writer.h"

namespace stepscope::capture {

// Records on their way from the thread that makes them to the thread that writes them: one of
// each, so no lock. Full means dropped and counted, never waiting.

class Ring {
 public:
  // A power of two, so that places wrap by masking.
  static constexpr std::uint64_t kPlaces = 1U << 16;
  // Kept free for ends, so that a range that was begun can end; and of that for marks of steps,
  // which are few, and without which all that lies between them belongs to none.
  static constexpr std::uint64_t kForEnds = 1U << 12;
  static constexpr std::uint64_t kForSteps = 1U << 10;

  Ring(std::uint32_t generation, wire::ThreadId thread)
      : generation_(generation), thread_(thread), records_(new wire::Record[kPlaces]) {}

  // The recording it belongs to: a thread that finds another one running asks for a new ring.
  std::uint32_t generation() const { return generation_; }
  wire::ThreadId thread() const { return thread_; }

  // By the recording thread. False: no room, and counted.
  bool push(wire::Record record, std::uint64_t keep_free) {
    const std::uint64_t head = head_.load(std::memory_order_relaxed);
    if (!has_room(head, 1 + keep_free)) return drop();
    records_[head & (kPlaces - 1)] = record;
    head_.store(head + 1, std::memory_order_release);
    return true;
  }
  // Two that belong together: the writer sees both or none.
  bool push(wire::Record first, wire::Record second, std::uint64_t keep_free) {
    const std::uint64_t head = head_.load(std::memory_order_relaxed);
    if (!has_room(head, 2 + keep_free)) return drop();
    records_[head & (kPlaces - 1)] = first;
    records_[(head + 1) & (kPlaces - 1)] = second;
    head_.store(head + 2, std::memory_order_release);
    return true;
  }
  // By the recording thread: true once for every quarter that was filled. The writer should not
  // sleep on.
  bool filled_a_quarter() {
    const std::uint64_t head = head_.load(std::memory_order_relaxed);
    if (head < next_quarter_) return false;
    next_quarter_ = head + kPlaces / 4;
    return true;
  }

  // By the writing thread: appends all that is there.
  void drain(std::vector<wire::Record>& into) {
    const std::uint64_t tail = tail_.load(std::memory_order_relaxed);
    const std::uint64_t head = head_.load(std::memory_order_acquire);
    for (std::uint64_t at = tail; at != head; ++at) into.push_back(records_[at & (kPlaces - 1)]);
    tail_.store(head, std::memory_order_release);
  }
  // Since last asked.
  std::uint64_t take_dropped() { return dropped_.exchange(0, std::memory_order_relaxed); }

  // The lane the thread's last record was on. Of the recording thread alone.
  std::uint64_t lane = 0;

  // Whether a mark of a step found no room since the last that did. Of the recording thread alone.
  bool step_marks_lost = false;

  // Set by the thread as it ends, after its last record.
  std::atomic<bool> abandoned = false;

 private:
  bool has_room(std::uint64_t head, std::uint64_t wanted) {
    if (head + wanted - tail_seen_ <= kPlaces) return true;
    tail_seen_ = tail_.load(std::memory_order_acquire);
    return head + wanted - tail_seen_ <= kPlaces;
  }
  bool drop() {
    dropped_.fetch_add(1, std::memory_order_relaxed);
    return false;
  }

  const std::uint32_t generation_;
  const wire::ThreadId thread_;
  const std::unique_ptr<wire::Record[]> records_;
  // Each side's counter on a line of its own, or every record would move it between cores.
  alignas(64) std::atomic<std::uint64_t> head_ = 0;
  std::uint64_t tail_seen_ = 0;  // of the recording thread, as below
  std::uint64_t next_quarter_ = kPlaces / 4;
  std::atomic<std::uint64_t> dropped_ = 0;
  alignas(64) std::atomic<std::uint64_t> tail_ = 0;
};

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

// Processes that end by a signal: workers of a data loader are sent SIGTERM when their parent ends,
// and none of their own code runs any more.

// From now on SIGTERM first has the recording of this process finished, then does what it would
// have done. It waits for the writer's next turn, a tenth of a second, and no longer than three.
// Children of a fork are not meant.
void finish_on_sigterm();

// For a handler that may never run: Python's waits until the main thread runs Python again, which
// it does not while it is in a call of C that hangs. From now on, where SIGTERM came and
// `sigterm_seen` was not called for five seconds, the writer finishes the recording, and the signal
// does what it does by default. The handler that is in place is kept; to be called after its
// installation.
void end_on_unseen_sigterm();
void sigterm_seen();

namespace detail {

// Asked by the writer, which then writes all that is left and ends the process.
bool sigterm_is_overdue();
void end_by_sigterm();

}  // namespace detail

}  // namespace stepscope::capture
