// The stretches in which a stream or a device runs nothing, each with the reason why it ended no
// sooner. One is cut where the call that launched the next work returned: until then the host kept
// the device waiting, after that the work was queued. Definitions: docs/metrics/idle-time.md.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "analysis/arithmetic/intervals.h"
#include "analysis/host/host_threads.h"
#include "analysis/view.h"

namespace stepscope::analysis {

// What work had to wait for on other streams. The profiler records the call that makes a stream
// wait for an event (cuda_sync "Stream Wait Event"), not when the stream waited: an event is
// complete when the last work queued on its stream before it was recorded has ended.

struct Awaited {
  base::Nanos end = 0;           // when what was waited for had ended
  std::uint32_t work = kNobody;  // index into WindowView::work
  static constexpr std::uint32_t kNobody = 0xffffffff;
  bool known() const { return work != kNobody; }
};

// For each piece of work, what its stream had to wait for between the launch before and its
// own. Empty when the trace holds no such record.
std::vector<Awaited> awaited_work(const WindowView& window);

enum class Cause : std::uint8_t {
  kHost,           // the call that launches the next work had not returned yet
  kKernel,         // it had, and a device needs a moment to begin
  kDependency,     // it had to wait for work on another stream
  kCommunication,  // and that work was communication
  kStart,          // before the first work
  kEnd,            // after the last
  kOther,
};
inline constexpr std::size_t kCauses = 7;
std::string_view name_of(Cause cause);
// The device had nothing to do, because nothing was launched.
inline bool is_of_host(Cause cause) {
  return cause == Cause::kHost || cause == Cause::kStart || cause == Cause::kEnd;
}

struct Gap {
  static constexpr std::uint32_t kNobody = Awaited::kNobody;
  Interval time;
  Cause cause = Cause::kOther;
  std::uint32_t before = kNobody, after = kNobody;  // indices into WindowView::work
  std::uint32_t awaited = kNobody;                  // of another stream
  // Of the host: how long the work was queued after that, before it began. The gap that follows.
  base::Nanos queued = 0;
  bool was_late = false;  // the host's part comes right before: not queued in time
  // Of the host, in a gap shorter than the delay: the call had begun before it. So short, it is as
  // much the device's own.
  bool was_called = false;
};

struct GapRules {
  base::Nanos delay = 30'000;  // shorter gaps between queued work are the device's own
  // As HTA: host, kernel and other only, one for the whole gap, by the start of the call.
  bool like_hta = false;
};

class GapFinder {
 public:
  GapFinder(const WindowView& window, const GapRules& rules);

  // Gaps of pieces that come by start (indices into WindowView::work, one stream's or one
  // device's), from `bounds.start` to `bounds.end`, in order of time.
  std::vector<Gap> gaps(std::span<const std::uint32_t> pieces, Interval bounds) const;

 private:
  // `of_host`: kHost, or kStart before the first work.
  void explain(Gap gap, Cause of_host, std::vector<Gap>& out) const;
  base::Nanos done_by_host(const Gap& gap, trace::Row launch) const;
  Awaited awaited(const Gap& gap, base::Nanos launched) const;

  const WindowView* window_;
  GapRules rules_;
  bool recorded_ = false;                   // the trace says which stream waits for which
  std::vector<Awaited> awaited_;            // by work
  std::vector<base::Nanos> own_free_;       // by work: when its stream had run all before it
  std::vector<std::vector<Awaited>> talk_;  // communication by device index, in order of end
  std::vector<std::uint32_t> device_of_;    // by stream: index into talk_
};

class HeldCalls;

// What the thread that launched the next work was in, while the device had nothing to do.
struct HostPart {
  trace::Row doing = trace::kNoRow;    // the range that fills at least half of the wait
  trace::Row waiting = trace::kNoRow;  // the call in which it waited for the device at the start
  trace::Row holder = trace::kNoRow;   // of another thread, while a launch did not return
};
HostPart host_part(const WindowView& window, HostThreads& threads, HeldCalls& held, const Gap& gap);
// The first of these alone. Until the next work was launched; where the gap is a call that did not
// return, that call.
trace::Row host_doing(const WindowView& window, HostThreads& threads, const Gap& gap);

}  // namespace stepscope::analysis
