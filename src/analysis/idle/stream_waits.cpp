#include "analysis/idle/stream_waits.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

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
  return trace::KeyIndex::of([&](auto add) {
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

}  // namespace stepscope::analysis
