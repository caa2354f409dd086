// Gives each wait of a device that the host could have filled one reason, and adds them up.
#include "analysis/stalls/stall_sums.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/arithmetic/intervals.h"
#include "analysis/arithmetic/sorted_runs.h"
#include "analysis/device/copies.h"
#include "analysis/host/host_threads.h"
#include "analysis/idle/held_calls.h"
#include "analysis/idle/idle_gaps.h"
#include "analysis/idle/idle_hosts.h"
#include "analysis/stalls/host_marks.h"
#include "analysis/stalls/host_work.h"
#include "analysis/stalls/profiler_overhead.h"
#include "analysis/stalls/stall_sites.h"
#include "trace/trace.h"

namespace stepscope::analysis {
namespace {

using base::Nanos;
using base::StringId;
using trace::Kind;
using trace::Row;

constexpr Nanos kJustBefore = 5'000;    // a call that ended so shortly before let the device go dry
constexpr Nanos kShortPause = 300'000;  // where the program says that it does something else
constexpr Nanos kOtherWait =
    3'000'000;  // so much more than a stop explains has a reason of its own
constexpr std::int64_t kFewLaunches = 8;  // between two waits: the host feeds the device by hand

constexpr bool is_call_in_stall_sums(Stall stall) {
  return stall == Stall::kUpload || stall == Stall::kSync || stall == Stall::kAllocator ||
         stall == Stall::kDebug;
}

// What the host itself works on (host_work.h), the surest first.
constexpr std::array kTasks = {Stall::kCompile, Stall::kUpdate,    Stall::kData,
                               Stall::kInspect, Stall::kOperators, Stall::kDebug};

// All marks of a window, ready to be asked about one gap after the other.
class Marks {
 public:
  Marks(const WindowView& window, const Intervals& collections, Nanos pause)
      : list_(host_marks(window, collections)) {
    std::array<Intervals, kStalls> sets;
    const std::vector<bool> launches = launching(window);
    // What a thread that launches nothing does in the driver holds only calls up: see held_calls.
    const auto is_beside = [&](const HostMark& mark) {
      return (mark.stall == Stall::kAllocator || mark.stall == Stall::kDriver) &&
             !launches[window.trace->track()[mark.row]];
    };
    for (const HostMark& mark : list_) {
      if (is_beside(mark)) continue;
      sets[static_cast<std::size_t>(mark.stall)].push_back(mark.time);
    }
    for (std::size_t i = 0; i < kStalls; ++i) {
      sets_[i] = CoverageWalk(sorted_union(std::move(sets[i])));
    }
    for (std::uint32_t i = 0; i < list_.size(); ++i) {
      if (is_beside(list_[i])) continue;
      of_[static_cast<std::size_t>(list_[i].stall)].push_back(i);
      if (is_call_in_stall_sums(list_[i].stall)) calls_.push_back(i);
    }
    find_launches(window);
    find_loops();
    find_recorded(window, pause);
  }

  struct Launched {
    std::int64_t count = 0;  // pieces of work
    Nanos length = 0;
  };
  // What the host launched in this time, on all threads.
  Launched launched(Interval time) const {
    const auto first = std::ranges::lower_bound(launches_, time.start) - launches_.begin();
    const auto last = std::ranges::lower_bound(launches_, time.end) - launches_.begin();
    if (last <= first) return {};
    return {last - first,
            lengths_[static_cast<std::size_t>(last)] - lengths_[static_cast<std::size_t>(first)]};
  }

  const std::vector<HostMark>& list() const { return list_; }
  Nanos inside(Stall stall, Interval gap) {
    return sets_[static_cast<std::size_t>(stall)].covered(gap);
  }
  // Of the gap, some thread of the host was in an operator or a call.
  Nanos recorded(Interval gap) { return recorded_.covered(gap); }
  // Of the gap, the host stood still: nothing of the framework ran, for long.
  Nanos paused(Interval gap) { return paused_.covered(gap); }
  // How long the host stood still around this gap; each pause counts once.
  Nanos take_pauses(Interval gap) {
    Nanos sum = 0;
    auto at = std::ranges::upper_bound(pauses_, gap.start, {}, &Interval::end);
    for (; at != pauses_.end() && at->start < gap.end; ++at) {
      sum += at->length();
      at->end = at->start;  // empty from now on
    }
    return sum;
  }
  bool in_loop(Interval gap) { return 2 * loops_.covered(gap) >= gap.length(); }

  // The call in which the host was when the device ran out of work.
  const HostMark* waited(Nanos time) const {
    auto after = std::ranges::upper_bound(calls_, time, {},
                                          [&](std::uint32_t i) { return list_[i].time.start; });
    // Threads may overlap, but hardly more than two wait at once.
    for (int tries = 0; tries < 3 && after != calls_.begin(); ++tries) {
      const HostMark& mark = list_[*--after];
      if (mark.time.end + kJustBefore >= time) return &mark;
    }
    return nullptr;
  }
  // The first call that waits for the device from this time on.
  const HostMark* next_sync(Nanos time) const {
    const auto& of = of_[static_cast<std::size_t>(Stall::kSync)];
    const auto at = std::ranges::lower_bound(of, time, {},
                                             [&](std::uint32_t i) { return list_[i].time.start; });
    return at == of.end() ? nullptr : &list_[*at];
  }
  // The longest mark of this sort in the gap, of the first few.
  const HostMark* in(Stall stall, Interval gap) const {
    const auto& of = of_[static_cast<std::size_t>(stall)];
    auto at = std::ranges::upper_bound(of, gap.start, {},
                                       [&](std::uint32_t i) { return list_[i].time.start; });
    if (at != of.begin()) --at;
    const HostMark* best = nullptr;
    Nanos most = 0;
    for (int tries = 0; tries < 8 && at != of.end() && list_[*at].time.start < gap.end;
         ++tries, ++at) {
      const Interval& time = list_[*at].time;
      const Nanos both = std::min(time.end, gap.end) - std::max(time.start, gap.start);
      if (both > most) {
        most = both;
        best = &list_[*at];
      }
    }
    return best;
  }

 private:
  // By track: whether it launches work. All do where no launch is recorded.
  static std::vector<bool> launching(const WindowView& window) {
    std::vector<bool> out(window.trace->tracks().size());
    for (const Work& piece : window.work) {
      if (piece.launch != trace::kNoRow) out[window.trace->track()[piece.launch]] = true;
    }
    if (std::ranges::find(out, true) == out.end()) out.assign(out.size(), true);
    return out;
  }
  void find_launches(const WindowView& window) {
    std::vector<std::pair<Nanos, Nanos>> list;
    for (const Work& piece : window.work) {
      if (piece.launch == trace::kNoRow) continue;
      list.emplace_back(window.trace->start()[piece.launch], piece.length());
    }
    sort_runs(list, std::less{});
    lengths_.push_back(0);
    for (const auto& [start, length] : list) {
      launches_.push_back(start);
      lengths_.push_back(lengths_.back() + length);
    }
  }
  // Stretches in which the host waits for the device again and again.
  void find_loops() {
    std::vector<Interval> loops;
    const HostMark* last = nullptr;
    for (const std::uint32_t i : of_[static_cast<std::size_t>(Stall::kSync)]) {
      const HostMark& mark = list_[i];
      if (last != nullptr) {
        if (launched({last->time.end, mark.time.start}).count <= kFewLaunches)
          loops.push_back({last->time.start, mark.time.end});
      }
      last = &mark;
    }
    loops_ = CoverageWalk(sorted_union(std::move(loops)));
  }
  void find_recorded(const WindowView& window, Nanos pause) {
    const trace::Trace& trace = *window.trace;
    Intervals spans;
    for (const trace::Track& track : trace.tracks()) {
      if (track.is_device) continue;
      Nanos reach = track.begin < track.end ? trace.start()[track.begin] : 0;
      for (Row row = track.begin; row < track.end; ++row) {
        const Kind kind = trace.kind()[row];
        if (kind != Kind::kCpuOp && !trace::is_api_call(kind)) continue;
        if (trace.end(row) <= reach) continue;  // inside an operator that is there already
        spans.push_back({std::max(reach, trace.start()[row]), trace.end(row)});
        reach = trace.end(row);
      }
    }
    spans = sorted_union(std::move(spans));
    if (!window.measured.empty()) {
      const QuietRanges quiet = quiet_ranges(trace, spans);
      own_ = CoverageWalk(quiet.own);
      framework_ = CoverageWalk(quiet.framework);
      find_pauses(spans, window.measured, pause);
    }
    recorded_ = CoverageWalk(std::move(spans));
  }
  // Python's own cost between two operators is some ten microseconds, between two steps below 2 ms
  // in every recording we have: what takes longer does something else than launching. So does what
  // is shorter, where it has a name of the program's own.
  void find_pauses(const Intervals& recorded, const Intervals& measured, Nanos pause) {
    Intervals pauses;
    Nanos reach = measured.front().start;
    const auto add = [&](Nanos until) {
      const Nanos length = until - reach;
      if (length >= pause || (length >= std::min(pause, kShortPause) && is_own({reach, until}))) {
        pauses.push_back({reach, until});
      }
    };
    for (const Interval& span : recorded) {
      add(std::min(span.start, measured.back().end));
      reach = std::max(reach, span.end);
    }
    add(measured.back().end);
    pauses_ = pauses;
    paused_ = CoverageWalk(std::move(pauses));
  }

  // Half of it the program itself does something, and says so.
  bool is_own(Interval time) {
    return 2 * (own_.covered(time) - framework_.covered(time)) >= time.length();
  }

  std::vector<HostMark> list_;
  std::array<std::vector<std::uint32_t>, kStalls> of_;  // into list_, as below
  std::vector<std::uint32_t> calls_;
  std::array<CoverageWalk, kStalls> sets_;
  CoverageWalk loops_, recorded_, paused_, own_, framework_;
  Intervals pauses_;             // that no gap has taken yet; the others are empty
  std::vector<Nanos> launches_;  // when each piece of work was launched, ascending
  std::vector<Nanos> lengths_;   // of all pieces before it; one more
};

struct StallSumsVerdict {
  Stall stall = Stall::kLaunch;
  Row row = trace::kNoRow;  // what kept the host
  // What the host did later is another wait.
  Nanos until = std::numeric_limits<Nanos>::max();
};

// What is known of the work that ends a wait.
struct NextWork {
  Nanos launched = 0;           // what the host did later did not hold it up
  Row launch = trace::kNoRow;   // the call
  Row fetched = trace::kNoRow;  // the call that waits for the value that was copied last before
  bool is_rest = false;         // of a wait whose beginning is blamed on a call
};

// A call that was still waiting when the next work began, which another thread launched, waited
// for that work or for what comes after it: the call is late because the work is.
bool is_effect(const HostMark& mark, Interval gap, Row launch) {
  const bool waits = mark.stall == Stall::kSync || mark.stall == Stall::kUpload;
  return waits && mark.row != launch && mark.time.end > gap.end + kJustBefore;
}

// The first that applies; a call that fills half of a wait is to blame for all of it: what follows
// could only begin then. So is one in which the host was when the wait began, for as long as it
// kept the host from going on: without it, the host would have come to what follows so much sooner.
StallSumsVerdict judge(Marks& marks, Interval gap, const NextWork& next) {
  const auto blame = [&](Stall stall) {
    const HostMark* mark = marks.in(stall, gap);
    return StallSumsVerdict{stall, mark == nullptr ? trace::kNoRow : mark->row};
  };
  if (2 * marks.inside(Stall::kCollector, gap) >= gap.length()) return blame(Stall::kCollector);
  if (2 * marks.inside(Stall::kSearch, gap) >= gap.length()) return blame(Stall::kSearch);
  if (4 * marks.inside(Stall::kInput, gap) >= gap.length()) return blame(Stall::kInput);
  if (2 * marks.inside(Stall::kTalk, gap) >= gap.length()) return blame(Stall::kTalk);
  for (const Stall task : kTasks) {
    if (2 * marks.inside(task, gap) >= gap.length()) return blame(task);
  }
  Stall most = Stall::kSync;
  for (const Stall stall : {Stall::kUpload, Stall::kAllocator}) {
    if (marks.inside(stall, gap) > marks.inside(most, gap)) most = stall;
  }
  const HostMark* longest = marks.in(most, gap);
  const bool is_late = longest != nullptr && is_effect(*longest, gap, next.launch);
  const Nanos inside = is_late ? 0 : marks.inside(most, gap);
  if (2 * inside >= gap.length()) return blame(most);
  if (2 * marks.inside(Stall::kDriver, gap) >= gap.length()) return blame(Stall::kDriver);
  const HostMark* waited = next.is_rest ? nullptr : marks.waited(gap.start);
  if (waited != nullptr && !is_effect(*waited, gap, next.launch)) {
    const bool gives = waited->stall == Stall::kAllocator;  // costs more than its own time
    const Nanos from = std::max(waited->time.end, gap.start);
    const Nanos until = gives ? gap.end : from + waited->time.length();
    if (gap.end - until < kOtherWait) return {waited->stall, waited->row};
    return {waited->stall, waited->row, until};
  }
  if (4 * inside >= gap.length()) return blame(most);
  if (!next.is_rest && !is_late && marks.in_loop(gap)) return blame(Stall::kSync);
  if (next.fetched != trace::kNoRow) return {Stall::kSync, next.fetched};
  if (2 * marks.inside(Stall::kOptimizer, gap) >= gap.length()) return blame(Stall::kOptimizer);
  const Nanos paused = marks.paused({gap.start, std::min(gap.end, next.launched)});
  if (2 * paused >= gap.length()) return {Stall::kPause};
  return {};
}

class StallSumsSumming {
 public:
  StallSumsSumming(const WindowView& window, const StallRules& rules, const Intervals& collections)
      : window_(&window),
        rules_(rules),
        marks_(window, collections, rules.pause),
        saved_(saved_pieces(window)),
        work_(&host_work(window)),
        threads_(*window.trace),
        held_(window),
        sites_(*window.trace) {
    for (const StepTime& step : window.steps) out_.steps.emplace_back(step.number, StallSums{});
  }

  WindowStalls run() {
    add_marks();
    out_.noted = overhead_sums(*window_);
    const GapFinder finder(*window_, {.delay = rules_.delay});
    measured_ = CoverageWalk(window_->measured);
    if (window_->measured.empty()) return std::move(out_);
    const Interval bounds{window_->measured.front().start, window_->measured.back().end};
    std::vector<std::vector<Gap>> gaps;
    for (const DeviceView& device : window_->devices) {
      std::vector<std::uint32_t> pieces(device.end - device.begin);
      std::iota(pieces.begin(), pieces.end(), static_cast<std::uint32_t>(device.begin));
      gaps.push_back(finder.gaps(pieces, bounds));
    }
    const OverheadCost usual = overhead_cost(out_.noted);
    usual_ = play(usual, gaps);
    least_ = play(most_of(usual), gaps);
    for (std::size_t i = 0; i < gaps.size(); ++i) {
      for (const Gap& gap : gaps[i]) {
        if (is_of_host(gap.cause) && !gap.was_called) add_wait(gap);
      }
      add_copies(window_->devices[i]);
    }
    if (!window_->has_steps) out_.steps.clear();
    return std::move(out_);
  }

 private:
  template <class Add>
  void add(Stall stall, std::int32_t step, Add add_to) {
    add_to(out_.all[static_cast<std::size_t>(stall)]);
    if (step >= 0) {
      add_to(out_.steps[static_cast<std::size_t>(step)].second[static_cast<std::size_t>(stall)]);
    }
  }
  // The step that was running, by its corrected span.
  std::int32_t step_during(Nanos time) const {
    const auto after = std::ranges::upper_bound(
        window_->steps, time, {}, [](const StepTime& step) { return step.span.start; });
    return static_cast<std::int32_t>(after - window_->steps.begin()) - 1;
  }

  // Calls of the driver by name, and whether they come in rows: an emptied cache gives everything
  // back at once, a program without a cache one block at a time.
  void add_driver_call(const HostMark& mark, std::int32_t step) {
    const trace::Trace& trace = *window_->trace;
    const StringId name = trace.name()[mark.row];
    DriverCall*& call = calls_[{mark.stall, name}];
    if (call == nullptr) call = &out_.calls[{mark.stall, std::string(trace.text(name))}];
    ++call->count;
    call->host += mark.time.length();
    Row& last = last_call_[trace.track()[mark.row]];
    if (last == trace::kNoRow || trace.name()[last] != name) ++call->runs;
    last = mark.row;
    std::int32_t& seen = seen_in_[name];
    if (seen != step + 1) ++call->steps;
    seen = step + 1;
  }

  void add_marks() {
    last_call_.assign(window_->trace->tracks().size(), trace::kNoRow);
    for (const HostMark& mark : marks_.list()) {
      if (!window_->counts_at(mark.time.start)) continue;
      const std::int32_t step = step_at(window_->steps, mark.time.start);
      if (step < 0) continue;  // before or after all steps
      if (mark.stall == Stall::kAllocator || mark.stall == Stall::kDriver)
        add_driver_call(mark, step);
      const auto work =
          mark.stall == Stall::kOptimizer ? marks_.launched(mark.time) : Marks::Launched{};
      add(mark.stall, step, [&](StallSum& sum) {
        ++sum.count;
        sum.host += mark.time.length();
        sum.work += work.count;
        sum.work_ns += work.length;
      });
    }
  }

  // A launch that did not return: by what held it, as far as that is recorded.
  StallSumsVerdict judge_held(Interval time, Row launch) {
    if (2 * marks_.inside(Stall::kSearch, time) >= time.length()) {
      const HostMark* search = marks_.in(Stall::kSearch, time);
      return {Stall::kSearch, search == nullptr ? launch : search->row};
    }
    const Row holder = held_.holder(time, launch);
    if (holder == trace::kNoRow) return {Stall::kDriver, launch};
    const bool allocates = names_allocator_call(window_->trace->name_text(holder));
    return {allocates ? Stall::kAllocator : Stall::kDriver, holder};
  }

  enum class Part : std::uint8_t { kWhole, kHeld, kRest };

  void add_wait(Gap gap) {
    // What came before a launch that did not return is another wait than the call itself.
    const Interval held = held_in_launch(*window_, gap);
    // The moment that the device then takes to begin is seen only because the host was late.
    if (gap.queued < rules_.delay) gap.time.end += std::exchange(gap.queued, 0);
    Gap before = gap;
    if (held.length() > 0) {
      before.time.end = held.start;
      before.queued += gap.time.end - held.start;
    }
    add_gap(before, Part::kWhole);
    if (held.length() <= 0) return;
    gap.time.start = held.start;
    add_gap(gap, Part::kHeld);
  }

  void add_gap(Gap gap, Part part) {
    if (measured_.covered(gap.time) <= 0) return;
    StallSumsVerdict verdict;
    const auto is_saved = [&](std::uint32_t piece) {
      return piece != Gap::kNobody && saved_[piece];
    };
    if (is_saved(gap.before) || is_saved(gap.after)) {
      verdict = {Stall::kSave, window_->work[is_saved(gap.before) ? gap.before : gap.after].launch};
    } else if (part == Part::kHeld) {
      verdict = judge_held(gap.time, window_->work[gap.after].launch);
    } else {
      const Row launch =
          gap.after == Gap::kNobody ? trace::kNoRow : window_->work[gap.after].launch;
      const bool is_rest = part == Part::kRest;
      verdict = judge(marks_, gap.time,
                      {launch_of(gap), launch, is_rest ? trace::kNoRow : fetched_by(gap), is_rest});
    }
    if (verdict.until < gap.time.end) {
      Gap rest = gap;
      rest.time.start = verdict.until;
      gap.queued += gap.time.end - verdict.until;
      gap.time.end = verdict.until;
      add_part(gap, Part::kWhole, verdict);
      add_gap(rest, Part::kRest);
    } else {
      add_part(gap, part, verdict);
    }
  }

  void add_part(const Gap& gap, Part part, StallSumsVerdict verdict) {
    const Nanos length = measured_.covered(gap.time);
    if (length <= 0) return;
    const bool is_held = part == Part::kHeld;
    const Nanos launched = launch_of(gap);
    if (verdict.row == trace::kNoRow) verdict.row = host_doing(*window_, threads_, gap);
    const bool in_marks =
        !is_held && verdict.stall != Stall::kLaunch && verdict.stall != Stall::kPause;
    const Nanos inside = std::min(
        length, in_marks ? marks_.inside(verdict.stall, gap.time) : marks_.recorded(gap.time));
    const bool is_first = is_held && held_.is_first_use(window_->work[gap.after].launch);
    // A launch is no mark: one that was held is counted where it kept a device waiting.
    const bool counts = is_held && verdict.stall == Stall::kDriver &&
                        verdict.row == window_->work[gap.after].launch;
    const std::int32_t step =
        step_during(std::max(gap.time.start, window_->measured.front().start));
    const Nanos paused =
        verdict.stall == Stall::kPause
            ? marks_.take_pauses({gap.time.start, std::min(gap.time.end, launched)})
            : 0;
    const Nanos usual = std::min(length, wait_without_profiler(usual_, gap));
    const Nanos without_profiler = std::min(usual, wait_without_profiler(least_, gap));
    add(verdict.stall, step, [&](StallSum& sum) {
      ++sum.waits;
      sum.without_profiler += without_profiler;
      sum.usual += usual;
      sum.count += paused > 0 || counts ? 1 : 0;
      sum.host += paused + (counts ? gap.time.length() : 0);
      sum.held += is_held ? length : 0;
      sum.first_use += is_first ? length : 0;
      sum.idle += length;
      sum.inside += inside;
      sum.longest = std::max(sum.longest, length);
    });
    add_place(verdict, step, length);
    if (verdict.row == trace::kNoRow) return;
    if (verdict.stall == Stall::kAllocator || verdict.stall == Stall::kDriver) {
      const std::string_view name = window_->trace->name_text(verdict.row);
      DriverCall& sum = out_.calls[{verdict.stall, std::string(name)}];
      ++sum.waits;
      sum.idle += length;
      sum.count += counts ? 1 : 0;
      sum.host += counts ? gap.time.length() : 0;
    }
  }

  // A small copy to the host may be done before the host begins to wait for it, in the same
  // operator (x[mask] asks how many values are left): the queue is empty all the same.
  Row fetched_by(const Gap& gap) const {
    if (gap.before == Gap::kNobody) return trace::kNoRow;
    const trace::Trace& trace = *window_->trace;
    const Work& copy = window_->work[gap.before];
    const bool down = copy.work_class == WorkClass::kCopy && copy.launch != trace::kNoRow &&
                      copy_name(trace.name_text(copy.row)).kind == "DtoH";
    if (!down || trace.parent()[copy.launch] == trace::kNoRow) return trace::kNoRow;
    const HostMark* wait = marks_.next_sync(trace.start()[copy.launch]);
    const bool same = wait != nullptr && wait->time.start < gap.time.end &&
                      wait->row != trace::kNoRow &&
                      trace.parent()[wait->row] == trace.parent()[copy.launch] &&
                      trace.kind()[trace.parent()[wait->row]] == Kind::kCpuOp;
    return same ? wait->row : trace::kNoRow;
  }

  // The window played again with a faster host.
  struct Played {
    OverheadCost cost{};
    std::vector<Nanos> waits;  // by work
  };
  Played play(const OverheadCost& cost, std::span<const std::vector<Gap>> gaps) const {
    return {cost, waits_without_profiler(*window_, cost, marks_.list(), gaps)};
  }

  Nanos wait_without_profiler(const Played& played, const Gap& gap) const {
    if (gap.before != Gap::kNobody && gap.after != Gap::kNobody) {
      return std::max<Nanos>(0, played.waits[gap.after] - gap.queued);
    }
    return std::max<Nanos>(
        0, gap.time.length() - cost_of(overhead_counts_in(*window_, gap.time), played.cost));
  }

  Nanos launch_of(const Gap& gap) const {
    if (gap.after == Gap::kNobody) return gap.time.end;
    const Row launch = window_->work[gap.after].launch;
    return launch == trace::kNoRow ? gap.time.end : window_->trace->start()[launch];
  }

  void add_place(const StallSumsVerdict& verdict, std::int32_t step, Nanos length) {
    StallPlace& place = place_of(verdict.stall, sites_.at(verdict.row));
    ++place.waits;
    place.idle += length;
    if (length <= place.longest) return;
    place.longest = length;
    place.window = window_->window;
    place.has_event = verdict.row != trace::kNoRow;
    place.event = place.has_event ? window_->trace->ordinal()[verdict.row] : 0;
    // Who looks for the event finds it in the host's step: a wait may begin in the one before.
    const std::int32_t own =
        place.has_event ? step_at(window_->steps, window_->trace->start()[verdict.row]) : step;
    const std::int32_t shown = own >= 0 ? own : step;
    place.step = shown >= 0 && window_->has_steps
                     ? window_->steps[static_cast<std::size_t>(shown)].number
                     : -1;
  }

  StallPlace& place_of(Stall stall, const StallSite& site) {
    StallPlace*& place = places_[static_cast<std::size_t>(stall)][site];  // into out_
    if (place == nullptr) {
      const PlaceText text = sites_.text(site);
      place = &out_.places[{stall, text.call, text.op, text.frames}];
    }
    return *place;
  }

  // Copies that the host waits for also keep the device from computing.
  void add_copies(const DeviceView& device) {
    CoverageWalk computing(device.compute);
    CoverageWalk measured(window_->measured);
    for (std::size_t i = device.begin; i < device.end; ++i) {
      const Work& piece = window_->work[i];
      if (piece.work_class != WorkClass::kCopy || !window_->counts(piece)) continue;
      const CopyName copy = copy_name(window_->trace->name_text(piece.row));
      const bool up = copy.kind == "HtoD" && copy.host_memory == "pageable";
      const bool updates = work_->belongs(i, HostTask::kUpdate);
      const bool inspects = work_->belongs(i, HostTask::kInspect);
      if (!saved_[i] && !up && !updates && !inspects) continue;
      const Interval time{piece.start, piece.end};
      const Nanos exposed = measured.covered(time) - computing.covered(time);
      const Stall stall = updates     ? Stall::kUpdate
                          : inspects  ? Stall::kInspect
                          : saved_[i] ? Stall::kSave
                                      : Stall::kUpload;
      add(stall, piece.step, [&](StallSum& sum) {
        sum.copies += std::max<Nanos>(0, exposed);
        sum.bytes += bytes_of(*window_->trace, piece.row).value_or(0);
        if (saved_[i]) ++sum.count;
      });
    }
  }

  const WindowView* window_;
  StallRules rules_;
  Marks marks_;
  Played usual_, least_;
  CoverageWalk measured_;
  std::vector<bool> saved_;
  const HostWork* work_;
  HostThreads threads_;
  HeldCalls held_;
  StallSites sites_;
  std::array<std::unordered_map<StallSite, StallPlace*, StallSite::Hash>, kStalls> places_;
  std::map<std::pair<Stall, StringId>, DriverCall*> calls_;  // into out_
  std::vector<Row> last_call_;                               // of the driver, by track
  std::map<StringId, std::int32_t> seen_in_;                 // by name: the step, from 1
  WindowStalls out_;
};

}  // namespace

void StallSum::merge(const StallSum& other) {
  count += other.count;
  host += other.host;
  waits += other.waits;
  idle += other.idle;
  inside += other.inside;
  held += other.held;
  first_use += other.first_use;
  longest = std::max(longest, other.longest);
  copies += other.copies;
  bytes += other.bytes;
  work += other.work;
  work_ns += other.work_ns;
  without_profiler += other.without_profiler;
  usual += other.usual;
}

void DriverCall::merge(const DriverCall& other) {
  count += other.count;
  host += other.host;
  runs += other.runs;
  steps += other.steps;
  waits += other.waits;
  idle += other.idle;
}

void StallPlace::merge(const StallPlace& other) {
  const std::int64_t all_waits = waits + other.waits;
  const Nanos all_idle = idle + other.idle;
  if (other.longest > longest) *this = other;
  waits = all_waits;
  idle = all_idle;
}

WindowStalls window_stalls(const WindowView& window, const StallRules& rules,
                           const Intervals& collections) {
  return StallSumsSumming(window, rules, collections).run();
}

}  // namespace stepscope::analysis
