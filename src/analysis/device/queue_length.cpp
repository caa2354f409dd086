// How much work waits in each stream: one more when its call begins, one less when it starts on the
// device. A short queue means the host is the bottleneck; a full one makes the host wait.
#include <array>
#include <map>
#include <tuple>

#include "analysis/analysis.h"
#include "analysis/arithmetic/levels.h"
#include "analysis/key_columns.h"
#include "analysis/registry.h"
#include "analysis/share_of.h"
#include "analysis/view.h"

namespace stepscope::analysis {
namespace {

using base::Nanos;
using base::Type;
using base::Unit;

constexpr std::array kQueueLengthParameters = std::to_array<Parameter>({
    {"full", ParameterType::kCount, "1024",
     "from this length on the queue is full and launches wait"},
    {"points", ParameterType::kCount, "1000",
     "points of the series per stream: the highest of as many equal stretches. 0: all"},
});

constexpr base::ColumnShape kQueueLengthStream{"stream", Type::kInt, Unit::kId,
                                               "queue of the device"};
constexpr std::array kQueueLengthSummary = {
    key::kRank,
    key::kDevice,
    kQueueLengthStream,
    base::ColumnShape{"measured_ns", Type::kInt, Unit::kNanos, "wall time looked at"},
    base::ColumnShape{"queued", Type::kInt, Unit::kCount, "pieces of work whose call is known"},
    base::ColumnShape{"without_call", Type::kInt, Unit::kCount,
                      "pieces whose call is not in the trace; they are not in the lengths"},
    base::ColumnShape{"mean", Type::kReal, Unit::kNone, "mean length over the time"},
    base::ColumnShape{"median", Type::kInt, Unit::kNone, "not exceeded half of the time"},
    base::ColumnShape{"p95", Type::kInt, Unit::kNone, "not exceeded 95 % of the time"},
    base::ColumnShape{"max", Type::kInt, Unit::kNone, "the longest it was"},
    base::ColumnShape{"empty_share", Type::kReal, Unit::kShare,
                      "of the measured time nothing waited in the queue"},
    base::ColumnShape{"full_ns", Type::kInt, Unit::kNanos, "the queue was full: launches waited"},
    base::ColumnShape{"full_share", Type::kReal, Unit::kShare, "of the measured time"}};
constexpr std::array kQueueLengthSeries = {
    key::kRank,
    key::kWindow,
    key::kDevice,
    kQueueLengthStream,
    base::ColumnShape{"time_ns", Type::kInt, Unit::kInstant, "from this time on"},
    base::ColumnShape{"length", Type::kInt, Unit::kCount, "pieces of work that wait"}};
constexpr std::array<std::string_view, 2> kQueueLengthBars = {"mean", "max"};
constexpr std::array<std::string_view, 1> kQueueLengthLine = {"length"};
constexpr std::array kQueueLengthTables = std::to_array<base::TableShape>({
    {"streams",
     "one stream of one device",
     kQueueLengthSummary,
     {base::Chart::kBars, "stream", kQueueLengthBars, "rank"}},
    {"series",
     "one change of one queue's length",
     kQueueLengthSeries,
     {base::Chart::kLine, "time_ns", kQueueLengthLine, "stream"}},
});

struct Queue {
  std::uint64_t queued = 0, without_call = 0;
  TimeAtLevel time;
  void merge(const Queue& other) {
    queued += other.queued;
    without_call += other.without_call;
    time.merge(other.time);
  }
};

struct QueueLengthPartial {
  std::vector<Queue> queues;               // by stream of the window
  std::vector<std::vector<Level>> series;  // the same
};

QueueLengthPartial compute_queue_length(const WindowView& window, std::size_t points) {
  QueueLengthPartial out;
  for (const StreamView& stream : window.streams) {
    Queue queue;
    // Each of these is nearly in order.
    std::vector<Change> changes;
    std::vector<Change> starts;
    for (const std::uint32_t index : stream.work) {
      const Work& piece = window.work[index];
      const bool counted = window.counts(piece);
      if (piece.launch == trace::kNoRow) {
        queue.without_call += counted ? 1 : 0;
        continue;
      }
      queue.queued += counted ? 1 : 0;
      // Clocks differ: what started before its call did not wait.
      const Nanos call = window.trace->start()[piece.launch];
      if (piece.start <= call) continue;
      changes.push_back({call, 1});
      starts.push_back({piece.start, -1});
    }
    changes.insert(changes.end(), starts.begin(), starts.end());
    const std::vector<Level> all = levels(std::move(changes));
    queue.time = TimeAtLevel(all, window.measured);
    out.queues.push_back(std::move(queue));
    out.series.push_back(thinned(window.chosen ? cut(all, window.measured) : all, points));
  }
  return out;
}

Answer run_queue_length(const RunView& view, const Options& options) {
  const auto points = static_cast<std::size_t>(options.count("points"));
  const std::int64_t full = options.count("full");
  const auto partials = per_window<QueueLengthPartial>(
      view, [&](const WindowView& window) { return compute_queue_length(window, points); });

  std::map<std::tuple<std::int32_t, std::int32_t, std::int64_t>, Queue> queues;
  base::Table series(kQueueLengthTables[1]);
  for (std::size_t w = 0; w < partials.size(); ++w) {
    const WindowView& window = view.windows[w];
    for (std::size_t s = 0; s < window.streams.size(); ++s) {
      const StreamView& stream = window.streams[s];
      queues[{window.rank, stream.device, stream.stream}].merge(partials[w].queues[s]);
      for (const Level& level : partials[w].series[s]) {
        series.add(
            {window.rank, window.window, stream.device, stream.stream, level.time, level.value});
      }
    }
  }
  base::Table streams(kQueueLengthTables[0]);
  std::uint64_t without_call = 0;
  for (const auto& [key, q] : queues) {
    const Nanos time = q.time.total();
    const Nanos blocked = q.time.at_least(full);
    without_call += q.without_call;
    streams.add({std::get<0>(key), std::get<1>(key), std::get<2>(key), time, q.queued,
                 q.without_call, q.time.mean(), q.time.percentile(0.5), q.time.percentile(0.95),
                 q.time.max(), share_of(q.time.at_zero(), time), blocked, share_of(blocked, time)});
  }
  Answer answer;
  if (!view.has_device_work()) answer.remarks.push_back(why_no_device_work(view));
  if (without_call > 0) {
    answer.remarks.emplace_back(
        "Some work has no launch call in the trace; it is not part of the queue lengths.");
  }
  answer.tables.push_back(std::move(streams));
  answer.tables.push_back(std::move(series));
  return answer;
}

}  // namespace

const Analysis kQueueLength{
    .name = "queue-length",
    .title = "Queue length",
    .question = "How far is the host ahead of the GPU: how much work waits in each stream?",
    .parameters = kQueueLengthParameters,
    .tables = kQueueLengthTables,
    .run = run_queue_length,
};

}  // namespace stepscope::analysis
