// Why streams and devices wait: every idle stretch of the measured time with one cause, and the
// host operation responsible where the host was late.
#include "analysis/idle/idle_time.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "analysis/analysis.h"
#include "analysis/arithmetic/coverage_walk.h"

namespace stepscope::analysis {
namespace {

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
  for (const Gap& gap : gaps) parts.of(gap.cause) += walk.covered(gap.time);
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
    CoverageWalk walk(measured);
    for (const Gap& gap : gaps) {
      DeviceGap idle{gap, walk.covered(gap.time), device.device, {}};
      if (idle.length == 0) continue;
      if (is_of_host(gap.cause)) {
        idle.host = host_part(window, threads, gap);
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
             name_or_null(trace, idle.host.waiting), event(before), name_or_null(trace, before),
             event(after), name_or_null(trace, after)});
}

}  // namespace

Answer idle_time(const RunView& view, const Options& options) {
  const bool like_hta = options.text("definition") == "hta";
  const IdleTimeSettings settings{
      .rules = {.delay = options.duration("delay"), .dependencies = !like_hta},
      .within_steps = !like_hta && options.text("within") == "steps",
      .top = static_cast<std::size_t>(options.count("top"))};
  const auto partials = per_window<IdlePartial>(
      view, [&](const WindowView& window) { return compute_idle_time(window, settings); });

  IdleTables tables;
  std::map<std::pair<std::int32_t, std::int32_t>, IdleParts> devices;
  std::map<std::tuple<std::int32_t, std::int32_t, std::int64_t>, IdleParts> streams;
  std::map<std::int32_t, HostShares> hosts;
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

}  // namespace stepscope::analysis
