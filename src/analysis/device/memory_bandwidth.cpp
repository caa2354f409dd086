// How fast copies and memsets move memory, by their direction, over time. From bytes and durations:
// the rate that profilers print is rounded, and absent for some vendors.
#include <array>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "analysis/analysis.h"
#include "analysis/arithmetic/levels.h"
#include "analysis/device/copies.h"
#include "analysis/key_columns.h"
#include "analysis/registry.h"
#include "analysis/view.h"

namespace stepscope::analysis {
namespace {

using base::Nanos;
using base::Type;
using base::Unit;

constexpr std::array kMemoryBandwidthParameters = std::to_array<Parameter>({
    {"points", ParameterType::kCount, "1000",
     "points of the series per kind: the highest of as many equal stretches. 0: all"},
});

constexpr base::ColumnShape kMemoryBandwidthKind{
    "kind", Type::kText, Unit::kNone, "from where to where: HtoD is host to device; or Memset"};
constexpr std::array kMemoryBandwidthSummary = {
    key::kRank,
    key::kDevice,
    kMemoryBandwidthKind,
    base::ColumnShape{"count", Type::kInt, Unit::kCount, "copies or memsets"},
    base::ColumnShape{"bytes", Type::kInt, Unit::kBytes, "of those that say how much"},
    base::ColumnShape{"busy_ns", Type::kInt, Unit::kNanos,
                      "time in which at least one of them moved bytes"},
    base::ColumnShape{"mean_bytes_per_second", Type::kReal, Unit::kBytesPerSecond,
                      "while busy; copies at the same time add up"},
    base::ColumnShape{"median_bytes_per_second", Type::kInt, Unit::kBytesPerSecond,
                      "not exceeded half of the busy time"},
    base::ColumnShape{"p95_bytes_per_second", Type::kInt, Unit::kBytesPerSecond,
                      "not exceeded 95 % of the busy time"},
    base::ColumnShape{"max_bytes_per_second", Type::kInt, Unit::kBytesPerSecond, ""},
    base::ColumnShape{"without_bytes", Type::kInt, Unit::kCount,
                      "those that do not say how much; they are in no rate"},
    base::ColumnShape{"without_time", Type::kInt, Unit::kCount,
                      "those that lasted 0 ns; they are in no rate"}};
constexpr std::array kMemoryBandwidthSeries = {
    key::kRank,
    key::kWindow,
    key::kDevice,
    kMemoryBandwidthKind,
    base::ColumnShape{"time_ns", Type::kInt, Unit::kInstant, "from this time on"},
    base::ColumnShape{"bytes_per_second", Type::kInt, Unit::kBytesPerSecond,
                      "of all copies that run, together"}};
constexpr std::array<std::string_view, 1> kMemoryBandwidthBars = {"mean_bytes_per_second"};
constexpr std::array<std::string_view, 1> kMemoryBandwidthLine = {"bytes_per_second"};
constexpr std::array kMemoryBandwidthTables = std::to_array<base::TableShape>({
    {"kinds",
     "one direction on one device",
     kMemoryBandwidthSummary,
     {base::Chart::kBars, "kind", kMemoryBandwidthBars, "rank"}},
    {"series",
     "one change of the rate",
     kMemoryBandwidthSeries,
     {base::Chart::kLine, "time_ns", kMemoryBandwidthLine, "kind"}},
});

struct Flow {
  std::uint64_t count = 0, without_bytes = 0, without_time = 0;
  base::Bytes bytes = 0;
  TimeAtLevel time;
  void merge(const Flow& other) {
    count += other.count;
    without_bytes += other.without_bytes;
    without_time += other.without_time;
    bytes += other.bytes;
    time.merge(other.time);
  }
};

using MemoryBandwidthPlace = std::pair<std::int32_t, std::string_view>;  // device, kind
struct MemoryBandwidthPartial {
  std::map<MemoryBandwidthPlace, Flow> flows;
  std::map<MemoryBandwidthPlace, std::vector<Level>> series;
};

MemoryBandwidthPartial compute_memory_bandwidth(const WindowView& window, std::size_t points) {
  MemoryBandwidthPartial out;
  std::map<MemoryBandwidthPlace, std::vector<Change>> changes;
  for (const Work& piece : window.work) {
    if (piece.work_class != WorkClass::kCopy && piece.work_class != WorkClass::kSet) continue;
    if (!window.counts(piece)) continue;
    const MemoryBandwidthPlace place{window.streams[piece.stream].device,
                                     memory_kind(*window.trace, piece.row)};
    Flow& flow = out.flows[place];
    ++flow.count;
    const std::optional<base::Bytes> bytes = bytes_of(*window.trace, piece.row);
    flow.bytes += bytes.value_or(0);
    flow.without_bytes += bytes ? 0 : 1;
    flow.without_time += piece.length() == 0 ? 1 : 0;
    const std::int64_t rate = bytes_per_second(bytes.value_or(0), piece.length());
    if (rate == 0) continue;
    changes[place].push_back({piece.start, rate});
    changes[place].push_back({piece.end, -rate});
  }
  for (auto& [place, list] : changes) {
    const std::vector<Level> all = levels(std::move(list));
    const Interval whole{all.front().time, all.back().time};
    TimeAtLevel& time = out.flows[place].time;
    time = TimeAtLevel(all, std::span(&whole, 1));
    time.leave_out_zero();
    out.series[place] = thinned(all, points);
  }
  return out;
}

Answer run_memory_bandwidth(const RunView& view, const Options& options) {
  const auto points = static_cast<std::size_t>(options.count("points"));
  const auto partials = per_window<MemoryBandwidthPartial>(
      view, [&](const WindowView& window) { return compute_memory_bandwidth(window, points); });

  std::map<std::tuple<std::int32_t, std::int32_t, std::string_view>, Flow> flows;
  base::Table series(kMemoryBandwidthTables[1]);
  for (std::size_t w = 0; w < partials.size(); ++w) {
    const WindowView& window = view.windows[w];
    for (const auto& [place, flow] : partials[w].flows) {
      flows[{window.rank, place.first, place.second}].merge(flow);
    }
    for (const auto& [place, all] : partials[w].series) {
      for (const Level& level : all) {
        series.add(
            {window.rank, window.window, place.first, place.second, level.time, level.value});
      }
    }
  }
  base::Table kinds(kMemoryBandwidthTables[0]);
  std::uint64_t without_bytes = 0;
  for (const auto& [key, f] : flows) {
    without_bytes += f.without_bytes;
    const bool known = f.time.total() > 0;
    const auto rate = [&](auto value) {
      return known ? base::Cell(value) : base::Cell(base::Null{});
    };
    kinds.add({std::get<0>(key), std::get<1>(key), std::get<2>(key), f.count, f.bytes,
               f.time.total(), rate(f.time.mean()), rate(f.time.percentile(0.5)),
               rate(f.time.percentile(0.95)), rate(f.time.max()), f.without_bytes, f.without_time});
  }
  Answer answer;
  if (!view.has_device_work()) {
    answer.remarks.push_back(why_no_device_work(view));
  } else if (flows.empty()) {
    answer.remarks.emplace_back("The trace has no copies and no memsets.");
  }
  if (without_bytes > 0) {
    answer.remarks.push_back(fmt::format(
        "{} copies or memsets do not say how many bytes they moved; they are in no rate.",
        without_bytes));
  }
  answer.tables.push_back(std::move(kinds));
  answer.tables.push_back(std::move(series));
  return answer;
}

}  // namespace

const Analysis kMemoryBandwidth{
    .name = "memory-bandwidth",
    .title = "Memory bandwidth of copies",
    .question = "How fast do copies and memsets move memory?",
    .parameters = kMemoryBandwidthParameters,
    .tables = kMemoryBandwidthTables,
    .run = run_memory_bandwidth,
};

}  // namespace stepscope::analysis
