// Finds the stretches in which a stream or a device runs nothing, and why each ended no sooner.
#include "analysis/idle/idle_gaps.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "analysis/idle/held_calls.h"
#include "trace/key_index.h"

namespace stepscope::analysis {
namespace {

using base::Nanos;
using trace::Row;

// The work of one stream in the order it was queued, with the latest end so far.
struct Queued {
  std::vector<Nanos> calls;
  std::vector<Awaited> latest;

  Awaited before(Nanos call) const {
    const auto at = std::ranges::lower_bound(calls, call) - calls.begin();
    return at == 0 ? Awaited{} : latest[static_cast<std::size_t>(at - 1)];
  }
};

struct StreamWaitsWait {
  Nanos call;
  Awaited awaited;
};

Nanos queued_at(const WindowView& window, const Work& piece) {
  return piece.launch == trace::kNoRow ? piece.start : window.trace->start()[piece.launch];
}

Queued queue_of(const WindowView& window, const StreamView& stream) {
  std::vector<std::pair<Nanos, std::uint32_t>> order;
  order.reserve(stream.work.size());
  for (const std::uint32_t index : stream.work) {
    order.emplace_back(queued_at(window, window.work[index]), index);
  }
  std::ranges::sort(order);
  Queued queue;
  Awaited latest;
  for (const auto& [call, index] : order) {
    const Nanos end = window.work[index].end;
    if (!latest.known() || end > latest.end) latest = {end, index};
    queue.calls.push_back(call);
    queue.latest.push_back(latest);
  }
  return queue;
}

trace::KeyIndex calls_by_correlation(const trace::Trace& trace) {
  return trace::KeyIndex::build([&](auto add) {
    trace.launches().rows.for_each([&](Row row, std::uint32_t entry) {
      const std::int64_t correlation = trace.launches().correlation[entry];
      if (correlation > 0) add(correlation, row);
    });
  });
}

}  // namespace

std::vector<Awaited> awaited_work(const WindowView& window) {
  const trace::Trace& trace = *window.trace;
  const trace::SyncTable& syncs = trace.syncs();
  const base::StringId wanted = trace.strings().find("Stream Wait Event");
  if (syncs.rows.size() == 0 || wanted == base::kNoString) return {};

  std::map<std::pair<std::int32_t, std::int64_t>, std::size_t> place;
  std::vector<Queued> queues;
  for (const StreamView& stream : window.streams) {
    place[{stream.device, stream.stream}] = queues.size();
    queues.push_back(queue_of(window, stream));
  }
  const trace::KeyIndex calls = calls_by_correlation(trace);
  std::vector<std::vector<StreamWaitsWait>> waits(window.streams.size());
  syncs.rows.for_each([&](Row row, std::uint32_t entry) {
    if (syncs.what[entry] != wanted) return;
    const std::uint32_t on = trace.device().rows.find(row);
    if (on == base::RowSet::kNone) return;
    const std::int32_t device = trace.device().device[on];
    const auto waiting = place.find({device, trace.device().stream[on]});
    const auto source = place.find({device, syncs.wait_on_stream[entry]});
    if (waiting == place.end() || source == place.end()) return;
    const Row call = trace.device().launch[on];
    const Nanos asked = call == trace::kNoRow ? trace.start()[row] : trace.start()[call];
    // An event may be recorded many times: the last record before the wait is meant.
    Nanos recorded = std::numeric_limits<Nanos>::min();
    for (const Row record : calls.find(syncs.wait_on_record[entry])) {
      if (trace.start()[record] <= asked) recorded = std::max(recorded, trace.start()[record]);
    }
    const Awaited awaited = queues[source->second].before(recorded);
    if (awaited.known()) waits[waiting->second].push_back({asked, awaited});
  });

  std::vector<Awaited> out(window.work.size());
  for (std::size_t s = 0; s < window.streams.size(); ++s) {
    if (waits[s].empty()) continue;
    std::ranges::stable_sort(waits[s], {}, &StreamWaitsWait::call);
    auto next = waits[s].begin();
    // A stream runs its work in the order it was queued, so each wait belongs to the first work
    // queued after it.
    for (const std::uint32_t index : window.streams[s].work) {
      const Work& piece = window.work[index];
      if (piece.launch == trace::kNoRow) continue;
      const Nanos queued = trace.start()[piece.launch];
      for (; next != waits[s].end() && next->call <= queued; ++next) {
        if (!out[index].known() || next->awaited.end > out[index].end) out[index] = next->awaited;
      }
    }
  }
  return out;
}

namespace {

using base::Nanos;
using trace::Row;

constexpr Nanos kIdleGapsNever = std::numeric_limits<Nanos>::min();

constexpr std::array<std::string_view, kCauses> kIdleGapsNames = {
    "host", "kernel", "dependency", "communication", "start", "end", "other"};

}  // namespace

std::string_view name_of(Cause cause) { return kIdleGapsNames[static_cast<std::size_t>(cause)]; }

GapFinder::GapFinder(const WindowView& window, const GapRules& rules)
    : window_(&window), rules_(rules) {
  if (rules.like_hta) return;
  awaited_ = awaited_work(window);
  recorded_ = !awaited_.empty();
  own_free_.resize(window.work.size(), kIdleGapsNever);
  device_of_.resize(window.streams.size());
  for (std::size_t s = 0; s < window.streams.size(); ++s) {
    Nanos reach = kIdleGapsNever;
    for (const std::uint32_t index : window.streams[s].work) {
      own_free_[index] = reach;
      reach = std::max(reach, window.work[index].end);
    }
  }
  talk_.resize(window.devices.size());
  for (std::uint32_t d = 0; d < window.devices.size(); ++d) {
    const DeviceView& device = window.devices[d];
    for (std::size_t i = device.begin; i < device.end; ++i) {
      const Work& piece = window.work[i];
      device_of_[piece.stream] = d;
      if (piece.work_class != WorkClass::kCommunication) continue;
      talk_[d].push_back({piece.end, static_cast<std::uint32_t>(i)});
    }
    std::ranges::stable_sort(talk_[d], {}, &Awaited::end);
  }
}

// The work of another stream that the next piece waited for: it ended after the piece could have
// begun otherwise, and the piece began soon after.
Awaited GapFinder::awaited(const Gap& gap, Nanos launched) const {
  Awaited found;
  if (rules_.like_hta) return found;
  if (recorded_) {
    found = awaited_[gap.after];
  } else if (gap.time.length() >= rules_.delay) {
    // Without records: communication that ended just before. Shorter gaps would be guesses.
    const auto& talk = talk_[device_of_[window_->work[gap.after].stream]];
    const auto after = std::ranges::upper_bound(talk, gap.time.end, {}, &Awaited::end);
    if (after != talk.begin()) found = *(after - 1);
  }
  const bool bound = found.known() && found.end > own_free_[gap.after] && found.end >= launched &&
                     found.end <= gap.time.end && gap.time.end - found.end < rules_.delay;
  return bound ? found : Awaited{};
}

// When the host had done its part for the work that ends a gap: the call that launched it may take
// long, while the driver loads code or another thread holds it. Devices begin what is launched to
// them before the call returns, so this is no later than the end of the gap.
Nanos GapFinder::done_by_host(const Gap& gap, Row launch) const {
  const trace::Trace& trace = *window_->trace;
  const bool in_time = trace.start()[launch] <= gap.time.start;
  if (rules_.like_hta) return in_time ? gap.time.start : gap.time.end;
  // A call that waits for its own copy, or launches a graph of many kernels, has queued the next
  // piece long before it returns: short pauses are the device's own.
  const Work& next = window_->work[gap.after];
  const bool waits = next.work_class == WorkClass::kCopy && trace.end(launch) >= next.end;
  const bool within = gap.before != Gap::kNobody && window_->work[gap.before].launch == launch;
  if (in_time && (waits || within) && gap.time.length() < rules_.delay) return gap.time.start;
  return std::clamp(trace.end(launch), gap.time.start, gap.time.end);
}

void GapFinder::explain(Gap gap, Cause of_host, std::vector<Gap>& out) const {
  const Row launch = window_->work[gap.after].launch;
  if (launch != trace::kNoRow) {
    const Awaited waited_for = awaited(gap, window_->trace->start()[launch]);
    if (waited_for.known()) {
      const bool talk = window_->work[waited_for.work].work_class == WorkClass::kCommunication;
      gap.cause = talk ? Cause::kCommunication : Cause::kDependency;
      gap.awaited = waited_for.work;
      out.push_back(gap);
      return;
    }
    if (const Nanos done = done_by_host(gap, launch); done > gap.time.start) {
      Gap part = gap;
      part.time.end = done;
      part.cause = of_host;
      part.queued = gap.time.end - done;
      part.was_called =
          gap.time.length() < rules_.delay && window_->trace->start()[launch] <= gap.time.start;
      out.push_back(part);
      if (part.queued == 0) return;
      gap.time.start = done;
      gap.was_late = !part.was_called;
    }
  } else if (of_host == Cause::kStart) {
    gap.cause = of_host;
    out.push_back(gap);
    return;
  }
  gap.cause = gap.time.length() < rules_.delay ? Cause::kKernel : Cause::kOther;
  out.push_back(gap);
}

std::vector<Gap> GapFinder::gaps(std::span<const std::uint32_t> pieces, Interval bounds) const {
  std::vector<Gap> out;
  if (pieces.empty()) return out;
  std::uint32_t before = pieces.front();
  Nanos reach = window_->work[before].end;
  if (window_->work[before].start > bounds.start) {
    explain({.time = {bounds.start, window_->work[before].start}, .after = before}, Cause::kStart,
            out);
  }
  for (const std::uint32_t index : pieces.subspan(1)) {
    const Work& piece = window_->work[index];
    if (piece.start > reach) {
      explain({.time = {reach, piece.start}, .before = before, .after = index}, Cause::kHost, out);
    }
    // Work of one stream may overlap: what ran longest so far ends the last.
    if (piece.end > reach) {
      before = index;
      reach = piece.end;
    }
  }
  if (reach < bounds.end) {
    out.push_back({.time = {reach, bounds.end}, .cause = Cause::kEnd, .before = before});
  }
  return out;
}

namespace {

// The call that launched the work next to a gap, or kNoRow.
Row launch_beside(const WindowView& window, const Gap& gap) {
  const std::uint32_t neighbour = gap.after != Gap::kNobody ? gap.after : gap.before;
  return neighbour == Gap::kNobody ? trace::kNoRow : window.work[neighbour].launch;
}

}  // namespace

Row host_doing(const WindowView& window, HostThreads& threads, const Gap& gap) {
  const trace::Trace& trace = *window.trace;
  const Row launch = launch_beside(window, gap);
  if (launch == trace::kNoRow) return trace::kNoRow;
  Interval time = gap.time;
  if (gap.after != Gap::kNobody) {
    const Nanos held = held_in_launch(window, gap).length();
    if (held > 0 && 2 * held >= gap.time.length()) return launch;
    time.end = std::min(time.end, trace.start()[launch]);
  }
  return threads.doing(trace.track()[launch], time);
}

HostPart host_part(const WindowView& window, HostThreads& threads, HeldCalls& held,
                   const Gap& gap) {
  const Row launch = launch_beside(window, gap);
  if (launch == trace::kNoRow) return {};
  HostPart out{host_doing(window, threads, gap),
               threads.waiting(window.trace->track()[launch], gap.time.start)};
  if (const Interval part = held_in_launch(window, gap); part.length() > 0) {
    out.holder = held.holder(part, launch);
  }
  return out;
}

}  // namespace stepscope::analysis
