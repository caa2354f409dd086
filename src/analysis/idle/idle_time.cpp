// What the idle-time analysis takes and returns, and how its tables are filled.
#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/arithmetic/intervals.h"
#include "analysis/arithmetic/pair_numbers.h"
#include "analysis/idle/held_calls.h"
#include "analysis/idle/idle_gaps.h"
#include "analysis/idle/queued_waits.h"
#include "analysis/key_columns.h"
#include "analysis/registry.h"

namespace stepscope::analysis {
namespace {

// The shapes and sums of the idle-time analysis: what its tables hold and how they are filled.

// Idle time by cause; the causes add up to it, and it and the busy time to what was measured.
struct IdleParts {
  base::Nanos measured = 0;
  std::array<base::Nanos, kCauses> causes = {};
  base::Nanos late = 0;    // of kKernel, before work that the host launched late
  base::Nanos called = 0;  // of kHost and kStart, see Gap::was_called

  base::Nanos& time_of(Cause cause) { return causes[static_cast<std::size_t>(cause)]; }
  base::Nanos idle() const;
  void merge(const IdleParts& other);
};

// Idle time by what the host was in meanwhile.
class HostShares {
 public:
  // Range and its kind, the call the host waited in before, and what held its launch; empty where
  // there is none.
  using Key = std::tuple<std::string_view, std::string_view, std::string_view, std::string_view>;
  struct Share {
    std::uint64_t gaps = 0;
    base::Nanos idle = 0, longest = 0;
  };

  Share& entry_of(const Key& key) { return shares_[key]; }
  void merge(const HostShares& other);
  const std::map<Key, Share>& shares() const { return shares_; }

 private:
  std::map<Key, Share> shares_;
};

// Adds the idle stretches of one trace, by number: there are as many as pieces of work.
class HostShareCounter {
 public:
  HostShareCounter(const trace::Trace& trace, HostShares& shares)
      : trace_(trace), shares_(shares) {}
  void add(const HostPart& host, base::Nanos idle);

 private:
  const trace::Trace& trace_;
  HostShares& shares_;
  PairNumbers doing_;                      // name and kind
  PairNumbers waits_;                      // those, and the name of what was waited in
  PairNumbers held_;                       // those, and the name of what held the launch
  std::vector<HostShares::Share*> known_;  // by the last
};

struct IdleTables {
  base::Table devices, streams, steps, hosts, queued, stops, gaps;

  IdleTables();
  void add_device(std::int32_t rank, std::int32_t device, const IdleParts& parts);
  void add_stream(std::int32_t rank, std::int32_t device, std::int64_t stream,
                  const IdleParts& parts);
  void add_step(std::int32_t rank, std::uint32_t window, std::int64_t step, std::int32_t device,
                const IdleParts& parts);
  // The `top` ranges that cost most of this rank's idle time; 0: all.
  void add_hosts(std::int32_t rank, const HostShares& hosts, base::Nanos idle, std::size_t top);
  // The same of the work that was launched and did not begin.
  void add_queued(std::int32_t rank, std::int32_t device, const QueuedWaits& waits,
                  std::size_t top);
  void add_stops(std::int32_t rank, std::uint32_t window, std::int32_t device, const Stops& stops);
  Answer take();
};

using base::Cell;
using base::Nanos;
using trace::Row;

struct DeviceGap {
  Gap gap;
  Nanos length = 0;  // of it, measured
  std::int32_t device = -1;
  HostPart host;
};

struct IdlePartial {
  std::map<std::int32_t, IdleParts> devices;
  std::map<std::pair<std::int32_t, std::int64_t>, IdleParts> streams;
  std::vector<std::tuple<std::int64_t, std::int32_t, IdleParts>> steps;
  HostShares hosts;
  std::map<std::int32_t, QueuedWaits> queued;
  std::vector<std::pair<std::int32_t, Stops>> stops;
  std::vector<DeviceGap> longest;  // the longest first, no more than asked for
};

struct IdleTimeSettings {
  GapRules rules;
  bool within_steps = true;
  std::size_t top = 0;  // 0: all
};

// Gaps cut to a set of disjoint stretches.
IdleParts idle_time_parts_of(std::span<const Gap> gaps, std::span<const Interval> measured) {
  IdleParts parts;
  parts.measured = total(measured);
  CoverageWalk walk(Intervals(measured.begin(), measured.end()));
  for (const Gap& gap : gaps) {
    const Nanos length = walk.covered(gap.time);
    parts.time_of(gap.cause) += length;
    if (gap.was_late && gap.cause == Cause::kKernel) parts.late += length;
    if (gap.was_called) parts.called += length;
  }
  return parts;
}

Intervals bounds_of(const WindowView& window, std::span<const std::uint32_t> pieces,
                    bool within_steps) {
  if (within_steps) return window.measured;
  Nanos start = window.work[pieces.front()].start;
  Nanos end = start;
  for (const std::uint32_t index : pieces) end = std::max(end, window.work[index].end);
  return start < end ? Intervals{{start, end}} : Intervals{};
}

void add_idle_time_steps(IdlePartial& out, const WindowView& window, std::int32_t device,
                         std::span<const Gap> gaps) {
  for (const StepTime& step : window.steps) {
    if (!step.selected) continue;
    const auto first = std::ranges::partition_point(
        gaps, [&](const Gap& gap) { return gap.time.end <= step.span.start; });
    const auto last = std::ranges::partition_point(
        gaps, [&](const Gap& gap) { return gap.time.start < step.span.end; });
    const Interval span = step.span;
    out.steps.emplace_back(
        step.number, device,
        idle_time_parts_of({first, last}, std::span(&span, span.length() > 0 ? 1 : 0)));
  }
}

// The longest gaps; of equal ones the earliest. There are far more of them than anybody asks for.
class LongestGaps {
 public:
  explicit LongestGaps(std::size_t top) : top_(top) {}

  void add(const DeviceGap& gap) {
    if (gap.length < least_) return;
    list_.push_back(gap);
    if (top_ != 0 && list_.size() >= 4 * top_) settle();
  }
  std::vector<DeviceGap> take() {
    settle();
    return std::move(list_);
  }

 private:
  void settle() {
    std::ranges::stable_sort(list_, [](const DeviceGap& a, const DeviceGap& b) {
      return std::tuple(-a.length, a.gap.time.start) < std::tuple(-b.length, b.gap.time.start);
    });
    if (top_ == 0 || list_.size() < top_) return;
    list_.resize(top_);
    least_ = list_.back().length;
  }

  std::size_t top_;
  Nanos least_ = 0;  // what is shorter has no place any more
  std::vector<DeviceGap> list_;
};

IdlePartial compute_idle_time(const WindowView& window, const IdleTimeSettings& settings) {
  IdlePartial out;
  const GapFinder finder(window, settings.rules);
  HostThreads threads(*window.trace);
  HeldCalls held(window);
  HostShareCounter hosts(*window.trace, out.hosts);
  LongestGaps longest(settings.top);
  for (const StreamView& stream : window.streams) {
    const Intervals measured = bounds_of(window, stream.work, settings.within_steps);
    IdleParts& parts = out.streams[{stream.device, stream.stream}];
    if (measured.empty()) continue;
    const Interval bounds{measured.front().start, measured.back().end};
    parts.merge(idle_time_parts_of(finder.gaps(stream.work, bounds), measured));
  }
  for (const DeviceView& device : window.devices) {
    std::vector<std::uint32_t> pieces(device.end - device.begin);
    std::iota(pieces.begin(), pieces.end(), static_cast<std::uint32_t>(device.begin));
    const Intervals measured = bounds_of(window, pieces, settings.within_steps);
    IdleParts& parts = out.devices[device.device];
    if (measured.empty()) continue;
    const std::vector<Gap> gaps =
        finder.gaps(pieces, {measured.front().start, measured.back().end});
    parts.merge(idle_time_parts_of(gaps, measured));
    if (settings.within_steps && window.has_steps)
      add_idle_time_steps(out, window, device.device, gaps);
    if (!settings.rules.like_hta) {
      add_queued_waits(out.queued[device.device], window, gaps, measured);
      out.stops.emplace_back(device.device, stops_of(window, device, gaps, measured));
    }
    CoverageWalk walk(measured);
    for (const Gap& gap : gaps) {
      DeviceGap idle{gap, walk.covered(gap.time), device.device, {}};
      if (idle.length == 0) continue;
      if (is_of_host(gap.cause)) {
        idle.host = host_part(window, threads, held, gap);
        hosts.add(idle.host, idle.length);
      }
      longest.add(idle);
    }
  }
  out.longest = longest.take();
  return out;
}

Cell name_or_null(const trace::Trace& trace, Row row) {
  return row == trace::kNoRow ? Cell(base::Null{}) : Cell(trace.name_text(row));
}

// The step that was running when the wait began.
Cell idle_time_step_of(const WindowView& window, Nanos time) {
  if (!window.has_steps) return base::Null{};
  const auto after = std::ranges::upper_bound(window.steps, time, {},
                                              [](const StepTime& step) { return step.span.start; });
  if (after == window.steps.begin() || (after - 1)->span.end <= time) return base::Null{};
  return (after - 1)->number;
}

void add_gap(base::Table& table, const WindowView& window, const DeviceGap& idle) {
  const trace::Trace& trace = *window.trace;
  const Gap& gap = idle.gap;
  const Row before = gap.before == Gap::kNobody ? trace::kNoRow : window.work[gap.before].row;
  const Row after = gap.after == Gap::kNobody ? trace::kNoRow : window.work[gap.after].row;
  const auto event = [&](Row row) {
    return row == trace::kNoRow ? Cell(base::Null{}) : Cell(trace.ordinal()[row]);
  };
  const Cell stream = gap.after == Gap::kNobody
                          ? Cell(base::Null{})
                          : Cell(window.streams[window.work[gap.after].stream].stream);
  table.add({window.rank, window.window, idle.device, stream,
             idle_time_step_of(window, std::max(gap.time.start, window.measured.front().start)),
             gap.time.start, idle.length, name_of(gap.cause), name_or_null(trace, idle.host.doing),
             name_or_null(trace, idle.host.waiting), name_or_null(trace, idle.host.holder),
             event(before), name_or_null(trace, before), event(after), name_or_null(trace, after)});
}

Answer idle_time(const RunView& view, const Options& options) {
  const bool like_hta = options.text("definition") == "hta";
  const IdleTimeSettings settings{
      .rules = {.delay = options.duration("delay"), .like_hta = like_hta},
      .within_steps = !like_hta && options.text("within") == "steps",
      .top = static_cast<std::size_t>(options.count("top"))};
  const auto partials = per_window<IdlePartial>(
      view, [&](const WindowView& window) { return compute_idle_time(window, settings); });

  IdleTables tables;
  std::map<std::pair<std::int32_t, std::int32_t>, IdleParts> devices;
  std::map<std::tuple<std::int32_t, std::int32_t, std::int64_t>, IdleParts> streams;
  std::map<std::int32_t, HostShares> hosts;
  std::map<std::pair<std::int32_t, std::int32_t>, QueuedWaits> queued;
  std::map<std::int32_t, std::vector<std::pair<const WindowView*, DeviceGap>>> longest;
  for (std::size_t w = 0; w < partials.size(); ++w) {
    const WindowView& window = view.windows[w];
    for (const auto& [device, parts] : partials[w].devices) {
      devices[{window.rank, device}].merge(parts);
    }
    for (const auto& [place, parts] : partials[w].streams) {
      streams[{window.rank, place.first, place.second}].merge(parts);
    }
    for (const auto& [step, device, parts] : partials[w].steps) {
      tables.add_step(window.rank, window.window, step, device, parts);
    }
    hosts[window.rank].merge(partials[w].hosts);
    for (const auto& [device, waits] : partials[w].queued) {
      QueuedWaits& all = queued[{window.rank, device}];
      for (const auto& [key, wait] : waits) all[key].merge(wait);
    }
    for (const auto& [device, stops] : partials[w].stops) {
      tables.add_stops(window.rank, window.window, device, stops);
    }
    for (const DeviceGap& gap : partials[w].longest) {
      longest[window.rank].emplace_back(&window, gap);
    }
  }
  std::map<std::int32_t, Nanos> idle;
  for (const auto& [key, parts] : devices) {
    tables.add_device(key.first, key.second, parts);
    idle[key.first] += parts.idle();
  }
  for (const auto& [key, parts] : streams) {
    tables.add_stream(std::get<0>(key), std::get<1>(key), std::get<2>(key), parts);
  }
  for (const auto& [rank, shares] : hosts) {
    tables.add_hosts(rank, shares, idle[rank], settings.top);
  }
  for (const auto& [key, waits] : queued) {
    tables.add_queued(key.first, key.second, waits, settings.top);
  }
  for (auto& [rank, gaps] : longest) {
    std::ranges::stable_sort(gaps, std::ranges::greater{},
                             [](const auto& entry) { return entry.second.length; });
    if (settings.top != 0 && gaps.size() > settings.top) gaps.resize(settings.top);
    for (const auto& [window, gap] : gaps) add_gap(tables.gaps, *window, gap);
  }
  Answer answer = tables.take();
  if (!view.has_device_work()) answer.remarks.push_back(why_no_device_work(view));
  return answer;
}

using base::Cell;
using base::ColumnShape;
using base::Nanos;
using base::Type;
using base::Unit;

constexpr std::array<std::string_view, 2> kWithin = {"steps", "work"};
constexpr std::array<std::string_view, 2> kIdleTablesDefinitions = {"stepscope", "hta"};
constexpr std::array kIdleTablesParameters = std::to_array<Parameter>({
    {"delay", ParameterType::kDuration, "30us",
     "a shorter gap before work that was already queued is the device's own pause"},
    {"within", ParameterType::kChoice, "steps",
     "what is measured: the steps, or from the first to the last device event", kWithin},
    {"definition", ParameterType::kChoice, "stepscope",
     "hta: host, kernel and other only, from the first to the last work of each stream",
     kIdleTablesDefinitions},
    {"top", ParameterType::kCount, "20", "host operations and gaps per rank. 0: all"},
});

constexpr ColumnShape kIdleTablesStream{"stream", Type::kInt, Unit::kId, "queue of the device"};
constexpr ColumnShape kIdleTablesMeasured{"measured_ns", Type::kInt, Unit::kNanos,
                                          "wall time looked at"};
constexpr ColumnShape kIdleTablesIdle{"idle_ns", Type::kInt, Unit::kNanos,
                                      "nothing runs; the causes add up to it"};
constexpr ColumnShape kIdleTablesIdleShare{"idle_share", Type::kReal, Unit::kShare,
                                           "of the measured time"};
constexpr ColumnShape kIdleTablesHost{"host_ns", Type::kInt, Unit::kNanos,
                                      "the call that launches the next work had not returned"};
constexpr ColumnShape kKernel{"kernel_ns", Type::kInt, Unit::kNanos,
                              "short pauses before work that was already launched"};
constexpr ColumnShape kIdleTablesLate{
    "late_ns", Type::kInt, Unit::kNanos,
    "of kernel_ns, before work that the host launched late: it takes a moment to begin"};
constexpr ColumnShape kIdleTablesCalled{
    "called_ns", Type::kInt, Unit::kNanos,
    "of host_ns and start_ns, in short gaps whose launch had been called before they began"};
constexpr ColumnShape kDependency{"dependency_ns", Type::kInt, Unit::kNanos,
                                  "queued work waited for work on another stream"};
constexpr ColumnShape kIdleTablesCommunication{
    "communication_ns", Type::kInt, Unit::kNanos,
    "queued work waited for communication on another stream"};
constexpr ColumnShape kIdleTablesStart{"start_ns", Type::kInt, Unit::kNanos,
                                       "before the first work"};
constexpr ColumnShape kIdleEnd{"end_ns", Type::kInt, Unit::kNanos, "after the last work"};
constexpr ColumnShape kOther{"other_ns", Type::kInt, Unit::kNanos,
                             "the work was launched and did not begin; the trace does not say why"};

constexpr std::array kIdleTablesByDevice = {key::kRank,
                                            key::kDevice,
                                            kIdleTablesMeasured,
                                            kIdleTablesIdle,
                                            kIdleTablesIdleShare,
                                            kIdleTablesHost,
                                            kKernel,
                                            kDependency,
                                            kIdleTablesCommunication,
                                            kIdleTablesStart,
                                            kIdleEnd,
                                            kOther,
                                            kIdleTablesLate,
                                            kIdleTablesCalled};
constexpr std::array kByStream = {key::kRank,
                                  key::kDevice,
                                  kIdleTablesStream,
                                  kIdleTablesMeasured,
                                  kIdleTablesIdle,
                                  kIdleTablesIdleShare,
                                  kIdleTablesHost,
                                  kKernel,
                                  kDependency,
                                  kIdleTablesCommunication,
                                  kIdleTablesStart,
                                  kIdleEnd,
                                  kOther,
                                  kIdleTablesLate,
                                  kIdleTablesCalled};
constexpr std::array kIdleTablesByStep = {key::kRank,
                                          key::kWindow,
                                          key::kStep,
                                          key::kDevice,
                                          kIdleTablesMeasured,
                                          kIdleTablesIdle,
                                          kIdleTablesIdleShare,
                                          kIdleTablesHost,
                                          kKernel,
                                          kDependency,
                                          kIdleTablesCommunication,
                                          kIdleTablesStart,
                                          kIdleEnd,
                                          kOther,
                                          kIdleTablesLate,
                                          kIdleTablesCalled};
constexpr ColumnShape kHostOp{
    "host_op", Type::kText, Unit::kNone,
    "what the launching thread was in for at least half of the wait; null: nothing recorded, or "
    "many short things"};
constexpr ColumnShape kWaitedIn{
    "waited_in", Type::kText, Unit::kNone,
    "the call in which that thread was waiting for the GPU when the GPU ran out of work"};
constexpr ColumnShape kHeldBy{
    "held_by", Type::kText, Unit::kNone,
    "the call of another thread meanwhile, where a launch did not return; null: none recorded"};
constexpr std::array kByHostOp = {
    key::kRank,
    kHostOp,
    ColumnShape{"kind", Type::kText, Unit::kNone,
                "cpu_op, annotation, python, or a call: runtime, driver"},
    kWaitedIn,
    kHeldBy,
    ColumnShape{"gaps", Type::kInt, Unit::kCount, "how often a device waited"},
    ColumnShape{"idle_ns", Type::kInt, Unit::kNanos, "idle time of the rank's devices"},
    ColumnShape{"share", Type::kReal, Unit::kShare, "of the idle time of the rank's devices"},
    ColumnShape{"longest_ns", Type::kInt, Unit::kNanos, "the longest single wait"}};
constexpr std::array kByQueued = {
    key::kRank,
    key::kDevice,
    ColumnShape{"work", Type::kText, Unit::kNone, "what was launched and did not begin"},
    ColumnShape{"launch", Type::kText, Unit::kNone, "the call that launched it; null: not there"},
    ColumnShape{"node", Type::kInt, Unit::kId,
                "its place among the pieces of that call; null: the only one"},
    ColumnShape{"nodes", Type::kInt, Unit::kCount, "pieces of that call"},
    ColumnShape{"waits", Type::kInt, Unit::kCount, "how often the device waited before it"},
    ColumnShape{"idle_ns", Type::kInt, Unit::kNanos, "of other_ns"},
    ColumnShape{"median_ns", Type::kInt, Unit::kNanos, "of these waits"},
    ColumnShape{"longest_ns", Type::kInt, Unit::kNanos, "the longest single wait"}};
constexpr std::array kByStop = {
    key::kRank,
    key::kWindow,
    key::kDevice,
    ColumnShape{"between", Type::kInt, Unit::kCount,
                "waits of 0.5 ms or longer of work that was launched"},
    ColumnShape{"idle_ns", Type::kInt, Unit::kNanos, "those waits"},
    ColumnShape{"inside", Type::kInt, Unit::kCount,
                "kernels that took 0.5 ms longer and twice as long as the same kernel usually"},
    ColumnShape{"longer_ns", Type::kInt, Unit::kNanos, "what they took beyond the usual"},
    ColumnShape{"usual_ns", Type::kInt, Unit::kNanos, "the length that most of both have"},
    ColumnShape{"alike_share", Type::kReal, Unit::kShare, "of them, within a twentieth of it"},
    ColumnShape{"period_ns", Type::kInt, Unit::kNanos, "median time from one to the next"},
    ColumnShape{"steady_share", Type::kReal, Unit::kShare,
                "of those times, within a quarter of it"},
    ColumnShape{"same_work_share", Type::kReal, Unit::kShare,
                "of those alike, at the work that has most of them"}};
constexpr std::array kByGap = {
    key::kRank,
    key::kWindow,
    key::kDevice,
    ColumnShape{"stream", Type::kInt, Unit::kId, "where the next work ran"},
    ColumnShape{"step", Type::kInt, Unit::kId, "the step in which the wait began"},
    ColumnShape{"start_ns", Type::kInt, Unit::kInstant, "when the wait began"},
    ColumnShape{"length_ns", Type::kInt, Unit::kNanos, "how much of the wait was measured"},
    ColumnShape{"cause", Type::kText, Unit::kNone,
                "host, kernel, dependency, communication, start, end or other"},
    kHostOp,
    kWaitedIn,
    kHeldBy,
    ColumnShape{"before_event", Type::kInt, Unit::kId, "place in the file of the work before"},
    ColumnShape{"before", Type::kText, Unit::kNone, "its name"},
    ColumnShape{"after_event", Type::kInt, Unit::kId, "place in the file of the work after"},
    ColumnShape{"after", Type::kText, Unit::kNone, "its name"}};

constexpr std::array<std::string_view, kCauses> kIdleTablesStacked = {
    "host_ns", "kernel_ns", "dependency_ns", "communication_ns", "start_ns", "end_ns", "other_ns"};
constexpr std::array<std::string_view, 1> kIdleBar = {"idle_ns"};
constexpr std::array<std::string_view, 1> kQueuedBar = {"idle_ns"};
constexpr std::array<std::string_view, 1> kGapBar = {"length_ns"};
constexpr std::array kIdleTablesTables = std::to_array<base::TableShape>({
    {"devices",
     "one device of one rank",
     kIdleTablesByDevice,
     {base::Chart::kStack, "rank", kIdleTablesStacked}},
    {"streams",
     "one stream of one device",
     kByStream,
     {base::Chart::kStack, "stream", kIdleTablesStacked, "rank"}},
    {"steps",
     "one step on one device",
     kIdleTablesByStep,
     {base::Chart::kStack, "step", kIdleTablesStacked, "rank"}},
    {"host_ops",
     "one host operation that kept the devices of a rank waiting, the worst first",
     kByHostOp,
     {base::Chart::kBars, "host_op", kIdleBar, "rank"}},
    {"queued",
     "work that was launched and did not begin, and the trace does not say why, the worst first",
     kByQueued,
     {base::Chart::kBars, "work", kQueuedBar, "rank"}},
    {"stops", "one device: how it stopped while it had work", kByStop},
    {"gaps",
     "one wait of one device, the longest first",
     kByGap,
     {base::Chart::kBars, "after", kGapBar, "rank"}},
});

void add_idle_tables_parts(base::Table& table, std::vector<Cell> cells, const IdleParts& parts) {
  const Nanos idle = parts.idle();
  cells.emplace_back(parts.measured);
  cells.emplace_back(idle);
  cells.emplace_back(static_cast<double>(idle) / static_cast<double>(parts.measured));
  for (const Nanos part : parts.causes) cells.emplace_back(part);
  cells.emplace_back(parts.late);
  cells.emplace_back(parts.called);
  table.add(cells);
}

}  // namespace

const Analysis kIdleTime{
    .name = "idle-time",
    .title = "Idle time",
    .question = "Why is the GPU waiting, and for what?",
    .parameters = kIdleTablesParameters,
    .tables = kIdleTablesTables,
    .run = idle_time,
};

Nanos IdleParts::idle() const { return std::accumulate(causes.begin(), causes.end(), Nanos{0}); }

void IdleParts::merge(const IdleParts& other) {
  measured += other.measured;
  for (std::size_t i = 0; i < kCauses; ++i) causes[i] += other.causes[i];
  late += other.late;
  called += other.called;
}

void HostShareCounter::add(const HostPart& host, Nanos idle) {
  const auto name = [&](trace::Row row) {
    return row == trace::kNoRow ? base::kNoString : trace_.name()[row];
  };
  const bool in_any = host.doing != trace::kNoRow;
  const int kind = in_any ? static_cast<int>(trace_.kind()[host.doing]) : -1;
  const std::uint32_t doing = doing_.number(name(host.doing), static_cast<std::uint32_t>(kind + 1));
  const std::uint32_t waits = waits_.number(doing, name(host.waiting));
  const std::uint32_t number = held_.number(waits, name(host.holder));
  if (number == known_.size()) {
    known_.push_back(
        &shares_.entry_of({trace_.text(name(host.doing)),
                           in_any ? name_of(trace_.kind()[host.doing]) : std::string_view{},
                           trace_.text(name(host.waiting)), trace_.text(name(host.holder))}));
  }
  HostShares::Share* const share = known_[number];
  ++share->gaps;
  share->idle += idle;
  share->longest = std::max(share->longest, idle);
}

void HostShares::merge(const HostShares& other) {
  for (const auto& [key, share] : other.shares_) {
    Share& own = shares_[key];
    own.gaps += share.gaps;
    own.idle += share.idle;
    own.longest = std::max(own.longest, share.longest);
  }
}

IdleTables::IdleTables()
    : devices(kIdleTablesTables[0]),
      streams(kIdleTablesTables[1]),
      steps(kIdleTablesTables[2]),
      hosts(kIdleTablesTables[3]),
      queued(kIdleTablesTables[4]),
      stops(kIdleTablesTables[5]),
      gaps(kIdleTablesTables[6]) {}

void IdleTables::add_device(std::int32_t rank, std::int32_t device, const IdleParts& parts) {
  add_idle_tables_parts(devices, {rank, device}, parts);
}

void IdleTables::add_stream(std::int32_t rank, std::int32_t device, std::int64_t stream,
                            const IdleParts& parts) {
  add_idle_tables_parts(streams, {rank, device, stream}, parts);
}

void IdleTables::add_step(std::int32_t rank, std::uint32_t window, std::int64_t step,
                          std::int32_t device, const IdleParts& parts) {
  add_idle_tables_parts(steps, {rank, window, step, device}, parts);
}

void IdleTables::add_hosts(std::int32_t rank, const HostShares& found, Nanos idle,
                           std::size_t top) {
  std::vector<std::pair<HostShares::Key, HostShares::Share>> lines(found.shares().begin(),
                                                                   found.shares().end());
  std::ranges::stable_sort(lines, std::ranges::greater{},
                           [](const auto& line) { return line.second.idle; });
  if (top != 0 && lines.size() > top) lines.resize(top);
  for (const auto& [key, share] : lines) {
    const auto& [op, kind, waited_in, held_by] = key;
    hosts.add({rank, base::text_or_null(op), base::text_or_null(kind),
               base::text_or_null(waited_in), base::text_or_null(held_by), share.gaps, share.idle,
               static_cast<double>(share.idle) / static_cast<double>(idle), share.longest});
  }
}

void IdleTables::add_queued(std::int32_t rank, std::int32_t device, const QueuedWaits& waits,
                            std::size_t top) {
  std::vector<std::pair<QueuedKey, QueuedWait>> lines(waits.begin(), waits.end());
  std::ranges::stable_sort(lines, std::ranges::greater{},
                           [](const auto& line) { return line.second.idle; });
  if (top != 0 && lines.size() > top) lines.resize(top);
  for (const auto& [key, wait] : lines) {
    const auto number = [](std::size_t value) {
      return value > 0 ? Cell(static_cast<std::int64_t>(value)) : Cell(base::Null{});
    };
    queued.add({rank, device, key.work, base::text_or_null(key.call), number(key.node),
                number(key.of), wait.waits, wait.idle, wait.median(), wait.longest});
  }
}

void IdleTables::add_stops(std::int32_t rank, std::uint32_t window, std::int32_t device,
                           const Stops& found) {
  if (found.count() == 0) return;
  stops.add({rank, window, device, found.between, found.idle, found.inside, found.longer,
             found.usual, found.alike, found.period, found.steady, found.same_work});
}

Answer IdleTables::take() {
  Answer answer;
  for (base::Table* table : {&devices, &streams, &steps, &hosts, &queued, &stops, &gaps}) {
    answer.tables.push_back(std::move(*table));
  }
  return answer;
}

}  // namespace stepscope::analysis
