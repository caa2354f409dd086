// Estimates how long devices would have waited without the profiler's own cost.
#include "analysis/stalls/profiler_overhead.h"

#include <algorithm>
#include <limits>
#include <set>
#include <string_view>
#include <utility>

#include "analysis/arithmetic/sorted_runs.h"
#include "analysis/idle/held_calls.h"
#include "trace/step_names.h"

namespace stepscope::analysis {
namespace {

using base::Nanos;
using trace::Kind;
using trace::Row;

bool is_noted(const trace::Trace& trace, Row row) {
  const Kind kind = trace.kind()[row];
  if (kind == Kind::kMemory) return true;
  if (trace.phase()[row] != trace::Phase::kSpan) return false;
  if (kind == Kind::kAnnotation) return !trace::names_a_step(trace.name_text(row));
  return kind == Kind::kCpuOp || kind == Kind::kPython || trace::is_api_call(kind);
}

OverheadKind overhead_kind_of(Kind kind, bool is_launch) {
  switch (kind) {
    case Kind::kCpuOp:
      return OverheadKind::kOperator;
    case Kind::kPython:
      return OverheadKind::kFunction;
    case Kind::kAnnotation:
      return OverheadKind::kRange;
    case Kind::kMemory:
      return OverheadKind::kMemory;
    default:
      return is_launch ? OverheadKind::kLaunch : OverheadKind::kCall;
  }
}

// Threads of the host that launch work, in order of their rows.
std::vector<const trace::Track*> launching_tracks(const WindowView& window) {
  std::vector<const trace::Track*> hosts;
  for (const trace::Track& track : window.trace->tracks()) {
    if (!track.is_device && track.begin < track.end) hosts.push_back(&track);
  }
  std::ranges::sort(hosts, {}, [](const trace::Track* track) { return track->begin; });
  std::set<const trace::Track*> launching;
  for (const Work& piece : window.work) {
    if (piece.launch == trace::kNoRow) continue;
    const auto after = std::ranges::upper_bound(
        hosts, piece.launch, {}, [](const trace::Track* track) { return track->begin; });
    if (after != hosts.begin()) launching.insert(*std::prev(after));
  }
  std::erase_if(hosts, [&](const trace::Track* track) { return !launching.contains(track); });
  return hosts;
}

// Calls that launch kernels, by row; of a graph, once for each kernel.
std::vector<Row> kernel_launches(const WindowView& window) {
  std::vector<Row> out;
  for (const Work& piece : window.work) {
    const bool is_kernel =
        piece.work_class == WorkClass::kCompute || piece.work_class == WorkClass::kCommunication;
    if (is_kernel && piece.launch != trace::kNoRow) out.push_back(piece.launch);
  }
  std::ranges::sort(out);
  return out;
}

// The one operator that this one calls, with nothing else recorded inside; kNoRow: there is more,
// or nothing. Rows of a thread are in order of time, callers before what they call.
Row only_callee(const trace::Trace& trace, Row row) {
  const Row callee = row + 1;
  const auto rows = static_cast<Row>(trace.kind().size());
  if (callee >= rows || trace.kind()[callee] != Kind::kCpuOp || trace.parent()[callee] != row) {
    return trace::kNoRow;
  }
  // What comes after the callee and lies in it is the callee's; the next is the caller's or later.
  Row next = callee + 1;
  while (next < rows && trace.start()[next] >= trace.start()[callee] &&
         trace.start()[next] < trace.end(callee)) {
    ++next;
  }
  const bool has_more = next < rows && trace.parent()[next] == row;
  return has_more ? trace::kNoRow : callee;
}

}  // namespace

void for_each_recorded_call(const WindowView& window,
                            const std::function<void(Row, OverheadKind)>& tell) {
  const trace::Trace& trace = *window.trace;
  const std::vector<Row> launches = kernel_launches(window);
  for (const trace::Track* track : launching_tracks(window)) {
    auto launch = std::ranges::lower_bound(launches, track->begin);
    for (Row row = track->begin; row < track->end; ++row) {
      if (!is_noted(trace, row)) continue;
      while (launch != launches.end() && *launch < row) ++launch;
      const bool is_launch = launch != launches.end() && *launch == row;
      tell(row, overhead_kind_of(trace.kind()[row], is_launch));
      if (!is_launch) continue;
      for (++launch; launch != launches.end() && *launch == row; ++launch) {
        tell(row, OverheadKind::kNode);
      }
    }
  }
}

OverheadCounts overhead_counts_in(const WindowView& window, Interval time) {
  OverheadCounts out{};
  for_each_recorded_call(window, [&](Row row, OverheadKind sort) {
    const Nanos start = window.trace->start()[row];
    if (start >= time.start && start < time.end) ++out[static_cast<std::size_t>(sort)];
  });
  return out;
}

void OverheadSums::merge(const OverheadSums& other) {
  for (std::size_t i = 0; i < kOverheadKinds; ++i) counts[i] += other.counts[i];
  wrappers.insert(wrappers.end(), other.wrappers.begin(), other.wrappers.end());
  launches.insert(launches.end(), other.launches.begin(), other.launches.end());
}

namespace {

// So many of them are shorter; 0: there are too few to tell.
Nanos shorter_than(std::vector<Nanos> lengths, std::size_t one_in) {
  constexpr std::size_t kEnough = 20;
  if (lengths.size() < kEnough) return 0;
  const auto at = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / one_in);
  std::ranges::nth_element(lengths, at);
  return *at;
}

}  // namespace

Nanos OverheadSums::wrapper_ns() const { return shorter_than(wrappers, 4); }

Nanos OverheadSums::launch_ns() const { return shorter_than(launches, 2); }

Nanos OverheadSums::operator_ns() const {
  if (const Nanos wrapper = wrapper_ns(); wrapper > 0) return wrapper;
  // A launch that no profiler notes takes about 2.2 µs; what it takes beyond is 2.4 times what an
  // operator costs. In all recordings with both, that is 1.0 to 3.2 µs.
  constexpr Nanos kBare = 2'200;
  constexpr double kOfOperator = 2.4;
  constexpr Nanos kLeast = 1'000, kMost = 3'200;
  constexpr Nanos kUsual = 2'000;
  constexpr std::int64_t kEnough = 20;
  const Nanos launch = launch_ns();
  if (launch == 0) return count(OverheadKind::kNode) >= kEnough ? kUsual : 0;
  const auto each = static_cast<double>(launch - kBare) / kOfOperator;
  return std::clamp(static_cast<Nanos>(each), kLeast, kMost);
}

OverheadSums overhead_sums(const WindowView& window) {
  OverheadSums out;
  const trace::Trace& trace = *window.trace;
  for_each_recorded_call(window, [&](Row row, OverheadKind sort) {
    const Nanos start = trace.start()[row];
    if (!window.counts_at(start) || step_at(window.steps, start) < 0) return;
    ++out.counts[static_cast<std::size_t>(sort)];
    if (sort == OverheadKind::kLaunch) out.launches.push_back(trace.end(row) - start);
    if (sort != OverheadKind::kOperator) return;
    const Row callee = only_callee(trace, row);
    if (callee == trace::kNoRow) return;
    out.wrappers.push_back(trace.end(row) - start - (trace.end(callee) - trace.start()[callee]));
  });
  return out;
}

namespace {

using base::Nanos;

// So many pieces of work fit into the queue of a device: the host is no further ahead.
constexpr std::size_t kQueue = 1024;
// From one piece of queued work to the next a device takes about so long.
constexpr double kBetween = 1'500;

// Noting takes so many times as long as noting an operator, which is as long as one that does
// nothing but call another takes, and in all up to so many times as long:
// bench/profiler_overhead.py.
// An allocation, and a kernel of a graph: by three runs and one run with them.
constexpr std::array<double, kOverheadKinds> kWithoutProfilerTimes = {1, 1.2, 2.4, 0.3,
                                                                      1, 1.5, 0.6};
constexpr double kAtMost = 1.5;

struct WithoutProfilerMoment {
  enum class Sort : std::uint8_t { kNoted, kLaunch, kWaited };
  Nanos time = 0;
  Sort sort = Sort::kNoted;
  std::uint32_t of = 0;  // its OverheadKind, a piece of work, or a mark
};

// One device, its work in order of start. Times are in ns from here on, and earlier than recorded
// or equal.
class WithoutProfilerDevice {
 public:
  WithoutProfilerDevice(const WindowView& window, const DeviceView& view, std::span<const Gap> gaps)
      : work_(window.work_of(view)),
        first_(view.begin),
        start_(work_.size(), 0),
        end_(work_.size(), 0),
        launched_(work_.size(), kNotYet),
        wait_(work_.size(), kNone),
        own_(work_.size(), kBetween) {
    for (const Gap& gap : gaps) {
      if (gap.after == Gap::kNobody) continue;
      const std::size_t at = gap.after - first_;
      if (gap.was_late) {  // what the device takes to begin is in its delay; more is its own
        if (gap.cause == Cause::kOther) own_[at] += static_cast<double>(gap.time.length());
        continue;
      }
      wait_[at] = is_of_host(gap.cause) && !gap.was_called ? kHost : kOwn;
      // What held a launch holds it as long without a profiler.
      own_[at] += static_cast<double>(held_in_launch(window, gap).length());
    }
    std::vector<Nanos> delays;
    for (const Work& piece : work_) {
      if (piece.launch == trace::kNoRow) continue;
      delays.push_back(std::max<Nanos>(0, piece.start - window.trace->start()[piece.launch]));
    }
    if (delays.empty()) return;
    const auto tenth = delays.begin() + static_cast<std::ptrdiff_t>(delays.size() / 10);
    std::ranges::nth_element(delays, tenth);
    delay_ = static_cast<double>(*tenth);
  }

  bool has_piece(std::uint32_t piece) const {
    return piece >= first_ && piece < first_ + work_.size();
  }

  // The host launches a piece at `time`, earlier than recorded by `ahead` or as much as there is
  // room in the queue for. Returns by how much.
  double launch(std::uint32_t piece, Nanos time, double ahead) {
    const std::size_t at = piece - first_;
    if (at >= kQueue && at - kQueue < done_) {
      ahead = std::min(ahead, std::max(0.0, static_cast<double>(time) - start_[at - kQueue]));
    }
    const Work& work = work_[at];
    const double delay = std::min(delay_, static_cast<double>(work.start - time));
    launched_[at] = static_cast<double>(time) - ahead + delay;
    latest_ = std::max(latest_, at + 1);
    run();
    return ahead;
  }

  // A call in this time returns when all work is done that was launched before: after that, it
  // takes as long as recorded. Returns how far ahead the host is after it.
  double waited(Interval time, double ahead) const {
    const std::size_t reached = std::min(latest_, done_);
    if (reached == 0) return ahead;
    const Nanos end = work_[reached - 1].end;
    if (end > time.end + kNoise) return ahead;  // it did not wait for this
    const auto from = static_cast<double>(std::max(time.start, end));
    return std::min(ahead, std::max(0.0, from - end_[reached - 1]));
  }

  void tell(std::vector<Nanos>& waits) const {
    double reach = 0;
    for (std::size_t i = 0; i < done_; ++i) {
      if (i > 0 && wait_[i] != kNone) {
        waits[first_ + i] = static_cast<Nanos>(std::max(0.0, start_[i] - reach));
      }
      reach = i == 0 ? end_[i] : std::max(reach, end_[i]);
    }
  }

 private:
  enum Wait : std::uint8_t { kNone, kHost, kOwn };
  static constexpr double kNotYet = std::numeric_limits<double>::infinity();
  static constexpr Nanos kNoise = 2'000;  // of clocks

  void run() {
    for (; done_ < work_.size(); ++done_) {
      const Work& piece = work_[done_];
      const auto recorded = static_cast<double>(piece.start);
      const bool is_known = piece.launch != trace::kNoRow;
      if (is_known && launched_[done_] == kNotYet) return;
      double start = recorded;
      if (done_ > 0) {
        const double gap = recorded - reach_recorded_;
        const double own = wait_[done_] == kHost && is_known ? std::min(gap, own_[done_]) : gap;
        start = std::min(recorded, reach_ + own);
        if (is_known) start = std::min(recorded, std::max(start, launched_[done_]));
      }
      const auto length = static_cast<double>(piece.length());
      start_[done_] = start;
      end_[done_] = start + length;
      reach_ = done_ == 0 ? end_[done_] : std::max(reach_, end_[done_]);
      reach_recorded_ =
          done_ == 0 ? recorded + length : std::max(reach_recorded_, recorded + length);
    }
  }

  std::span<const Work> work_;
  std::size_t first_;
  double delay_ = 0;  // from launch to start, at the least
  std::vector<double> start_, end_;
  std::vector<double> launched_;  // the earliest start that the host allows
  std::vector<std::uint8_t> wait_;
  std::vector<double> own_;            // of a wait for the host: the device's part of it
  std::size_t latest_ = 0, done_ = 0;  // launched up to here, played up to here
  double reach_ = 0, reach_recorded_ = 0;
};

// cudaFree waits as cudaDeviceSynchronize does, cudaMalloc does not.
bool waits_for_device(const trace::Trace& trace, const HostMark& mark) {
  if (mark.stall == Stall::kSync || mark.stall == Stall::kUpload) return true;
  if (mark.stall == Stall::kDebug) {
    return mark.row != trace::kNoRow && trace::is_api_call(trace.kind()[mark.row]);
  }
  return mark.stall == Stall::kAllocator && mark.row != trace::kNoRow &&
         trace.name_text(mark.row).find("Free") != std::string_view::npos;
}

std::vector<WithoutProfilerMoment> moments_of(const WindowView& window,
                                              std::span<const HostMark> marks) {
  const trace::Trace& trace = *window.trace;
  std::vector<WithoutProfilerMoment> out;
  for_each_recorded_call(window, [&](trace::Row row, OverheadKind sort) {
    out.push_back({trace.start()[row], WithoutProfilerMoment::Sort::kNoted,
                   static_cast<std::uint32_t>(sort)});
  });
  for (std::uint32_t i = 0; i < window.work.size(); ++i) {
    const trace::Row launch = window.work[i].launch;
    if (launch == trace::kNoRow) continue;
    out.push_back({trace.start()[launch], WithoutProfilerMoment::Sort::kLaunch, i});
  }
  for (std::uint32_t i = 0; i < marks.size(); ++i) {
    if (!waits_for_device(trace, marks[i])) continue;
    out.push_back({marks[i].time.end, WithoutProfilerMoment::Sort::kWaited, i});
  }
  sort_runs(out, [](const WithoutProfilerMoment& a, const WithoutProfilerMoment& b) {
    return std::pair(a.time, a.sort) < std::pair(b.time, b.sort);
  });
  return out;
}

}  // namespace

OverheadCost overhead_cost(const OverheadSums& noted) {
  OverheadCost out = kWithoutProfilerTimes;
  for (double& one : out) one *= static_cast<double>(noted.operator_ns());
  return out;
}

OverheadCost most_of(OverheadCost usual) {
  for (double& one : usual) one *= kAtMost;
  return usual;
}

Nanos cost_of(const OverheadCounts& counts, const OverheadCost& each) {
  double sum = 0;
  for (std::size_t i = 0; i < kOverheadKinds; ++i) sum += static_cast<double>(counts[i]) * each[i];
  return static_cast<Nanos>(sum);
}

std::vector<Nanos> waits_without_profiler(const WindowView& window, const OverheadCost& cost,
                                          std::span<const HostMark> marks,
                                          std::span<const std::vector<Gap>> gaps) {
  std::vector<WithoutProfilerDevice> devices;
  devices.reserve(window.devices.size());
  for (std::size_t i = 0; i < window.devices.size(); ++i) {
    devices.emplace_back(window, window.devices[i], gaps[i]);
  }
  double ahead = 0;  // the host, of what was recorded
  for (const WithoutProfilerMoment& moment : moments_of(window, marks)) {
    switch (moment.sort) {
      case WithoutProfilerMoment::Sort::kNoted:
        ahead += cost[moment.of];
        break;
      case WithoutProfilerMoment::Sort::kLaunch:
        for (WithoutProfilerDevice& device : devices) {
          if (device.has_piece(moment.of)) ahead = device.launch(moment.of, moment.time, ahead);
        }
        break;
      case WithoutProfilerMoment::Sort::kWaited:
        for (WithoutProfilerDevice& device : devices)
          ahead = device.waited(marks[moment.of].time, ahead);
        break;
    }
  }
  std::vector<Nanos> out(window.work.size(), 0);
  for (const WithoutProfilerDevice& device : devices) device.tell(out);
  return out;
}

}  // namespace stepscope::analysis
