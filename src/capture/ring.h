// Records on their way from the thread that makes them to the thread that writes them: one of
// each, so no lock. Full means dropped and counted, never waiting.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "wire/format.h"

namespace stepscope::capture {

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

}  // namespace stepscope::capture
