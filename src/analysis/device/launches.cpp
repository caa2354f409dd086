// What it costs the host to start work, and how long work then waits to run. Which calls launch is
// known from correlations, not from names, so every vendor's are seen, and graphs too.
#include "analysis/device/launches.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "analysis/key_columns.h"
#include "analysis/registry.h"

namespace stepscope::analysis {
namespace {

using base::Cell;
using base::ColumnShape;
using base::Type;
using base::Unit;

constexpr std::array kLaunchesParameters = std::to_array<Parameter>({
    {"short", ParameterType::kDuration, "10us", "a kernel below this length is short"},
    {"kernels-only", ParameterType::kSwitch, "false", "leave out copies and memsets"},
    {"top", ParameterType::kCount, "20", "kernels per rank. 0: all"},
    {"each", ParameterType::kSwitch, "false", "list every single launch too"},
});

constexpr ColumnShape kLaunchesCalls{"calls", Type::kInt, Unit::kCount, "calls that started work"};
constexpr ColumnShape kWork{"work", Type::kInt, Unit::kCount,
                            "kernels, copies and memsets started"};
constexpr ColumnShape kCost{"cost_ns", Type::kInt, Unit::kNanos,
                            "host time inside the calls, all together"};
constexpr ColumnShape kMeanCost{"mean_cost_ns", Type::kReal, Unit::kNanos, "of one call"};
constexpr ColumnShape kMedianCost{"median_cost_ns", Type::kInt, Unit::kNanos, "of one call"};
constexpr ColumnShape kP95Cost{"p95_cost_ns", Type::kInt, Unit::kNanos,
                               "19 of 20 calls did not take longer"};
constexpr ColumnShape kMaxCost{"max_cost_ns", Type::kInt, Unit::kNanos, "of one call"};
constexpr ColumnShape kMedianDelay{"median_delay_ns", Type::kInt, Unit::kNanos,
                                   "from the end of the call to the start of the work"};
constexpr ColumnShape kP95Delay{"p95_delay_ns", Type::kInt, Unit::kNanos,
                                "19 of 20 pieces did not wait longer"};
constexpr ColumnShape kMaxDelay{"max_delay_ns", Type::kInt, Unit::kNanos, "the longest wait"};
constexpr ColumnShape kShort{"short_kernels", Type::kInt, Unit::kCount,
                             "kernels shorter than --short"};
constexpr ColumnShape kShortTime{"short_kernel_ns", Type::kInt, Unit::kNanos, "they ran"};
constexpr ColumnShape kOutlasting{"longer_than_work", Type::kInt, Unit::kCount,
                                  "calls that took the host longer than their work ran"};
constexpr ColumnShape kGraphs{"graph_launches", Type::kInt, Unit::kCount,
                              "calls that started several pieces of work at once"};
constexpr ColumnShape kGraphWork{"graph_work", Type::kInt, Unit::kCount,
                                 "pieces of work they started"};
constexpr ColumnShape kWithoutCall{"without_call", Type::kInt, Unit::kCount,
                                   "pieces of work whose call is not in the trace"};

constexpr std::array kByRank = {key::kRank,   kLaunchesCalls, kWork,      kCost,       kMeanCost,
                                kMedianDelay, kP95Delay,      kMaxDelay,  kShort,      kShortTime,
                                kOutlasting,  kGraphs,        kGraphWork, kWithoutCall};
constexpr std::array kLaunchesByStep = {key::kRank,  key::kWindow, key::kStep, kLaunchesCalls,
                                        kWork,       kCost,        kMeanCost,  kMedianDelay,
                                        kP95Delay,   kMaxDelay,    kShort,     kShortTime,
                                        kOutlasting, kGraphs,      kGraphWork, kWithoutCall};
constexpr std::array kByCall = {
    key::kRank,     ColumnShape{"call", Type::kText, Unit::kNone, "name of the call"},
    kLaunchesCalls, kWork,
    kCost,          kMeanCost,
    kMedianCost,    kP95Cost,
    kMaxCost,       kMedianDelay,
    kP95Delay,      kMaxDelay,
    kOutlasting,    kGraphs,
    kGraphWork};
constexpr std::array kByKernel = {
    key::kRank,
    ColumnShape{"name", Type::kText, Unit::kNone, "of the kernel, copy or memset"},
    ColumnShape{"class", Type::kText, Unit::kNone, "compute, communication, memcpy or memset"},
    ColumnShape{"count", Type::kInt, Unit::kCount, "how often it was started"},
    kCost,
    ColumnShape{"mean_cost_ns", Type::kReal, Unit::kNanos,
                "of a call that starts it alone; null: only graphs start it"},
    ColumnShape{"median_length_ns", Type::kInt, Unit::kNanos, "it runs"},
    kMedianDelay,
    kP95Delay,
    kShort,
    kOutlasting,
    ColumnShape{"in_graphs", Type::kInt, Unit::kCount, "of the count, started by graph launches"}};
constexpr std::array kEach = {
    key::kRank,
    key::kWindow,
    ColumnShape{"correlation", Type::kInt, Unit::kId, "number that ties the call to its work"},
    ColumnShape{"call", Type::kText, Unit::kNone, "name of the call"},
    ColumnShape{"call_event", Type::kInt, Unit::kId, "its place in the file"},
    ColumnShape{"work_event", Type::kInt, Unit::kId, "place of the work in the file"},
    ColumnShape{"name", Type::kText, Unit::kNone, "of the work"},
    ColumnShape{"cost_ns", Type::kInt, Unit::kNanos, "the call took"},
    ColumnShape{"length_ns", Type::kInt, Unit::kNanos, "the work ran"},
    ColumnShape{"delay_ns", Type::kInt, Unit::kNanos,
                "from the end of the call to the start of the work"},
    ColumnShape{"graph", Type::kBool, Unit::kNone, "one of several pieces of one call"}};

constexpr std::array<std::string_view, 1> kLaunchesBar = {"cost_ns"};
constexpr std::array kLaunchesTables = std::to_array<base::TableShape>({
    {"ranks", "one rank", kByRank, {base::Chart::kBars, "rank", kLaunchesBar}},
    {"calls",
     "one sort of call, the costliest first",
     kByCall,
     {base::Chart::kBars, "call", kLaunchesBar, "rank"}},
    {"kernels",
     "one name of work, the costliest to launch first",
     kByKernel,
     {base::Chart::kBars, "name", kLaunchesBar, "rank"}},
    {"steps",
     "one step: what its calls started",
     kLaunchesByStep,
     {base::Chart::kBars, "step", kLaunchesBar, "rank"}},
    {"each", "one piece of work and its call, where asked for", kEach},
});

void add_sums(base::Table& table, std::vector<Cell> cells, LaunchSums& sums) {
  for (const Cell& cell :
       {Cell(sums.calls), Cell(sums.work), Cell(sums.cost), Cell(sums.mean_cost()),
        Cell(sums.delay.median()), Cell(sums.delay.percentile(0.95)), Cell(sums.delay.max()),
        Cell(sums.short_kernels), Cell(sums.short_ns), Cell(sums.outlasting), Cell(sums.graphs),
        Cell(sums.graph_work), Cell(sums.without_call)}) {
    cells.push_back(cell);
  }
  table.add(cells);
}

// The entries of a map, the costliest first.
template <class Key>
std::vector<std::pair<Key, LaunchSums*>> costliest(std::map<Key, LaunchSums>& sums) {
  std::vector<std::pair<Key, LaunchSums*>> out;
  out.reserve(sums.size());
  for (auto& [key, value] : sums) out.emplace_back(key, &value);
  std::ranges::stable_sort(out, std::ranges::greater{},
                           [](const auto& entry) { return entry.second->cost; });
  return out;
}

void add_launches_lines(base::Table& table, const WindowView& window,
                        std::span<const LaunchLine> lines) {
  const trace::Trace& trace = *window.trace;
  for (const LaunchLine& line : lines) {
    const Work& piece = window.work[line.work];
    const std::uint32_t entry = trace.launches().rows.rank(line.call);
    table.add({window.rank, window.window, trace.launches().correlation[entry],
               trace.name_text(line.call), trace.ordinal()[line.call], trace.ordinal()[piece.row],
               trace.name_text(piece.row), line.cost, piece.length(), line.delay, line.graph});
  }
}

void add_launches_rank(std::span<base::Table> tables, std::int32_t rank, LaunchPartial& sums,
                       std::size_t top) {
  add_sums(tables[0], {rank}, sums.all);
  for (const auto& [call, s] : costliest(sums.calls)) {
    tables[1].add({rank, call, s->calls, s->work, s->cost, s->mean_cost(), s->costs.median(),
                   s->costs.percentile(0.95), s->costs.max(), s->delay.median(),
                   s->delay.percentile(0.95), s->delay.max(), s->outlasting, s->graphs,
                   s->graph_work});
  }
  auto kernels = costliest(sums.kernels);
  if (top != 0 && kernels.size() > top) kernels.resize(top);
  for (const auto& [key, s] : kernels) {
    const Cell mean = s->calls > 0 ? Cell(s->mean_cost()) : Cell(base::Null{});
    tables[2].add({rank, key.first, name_of(key.second), s->work, s->cost, mean,
                   s->lengths.median(), s->delay.median(), s->delay.percentile(0.95),
                   s->short_kernels, s->outlasting, s->graph_work});
  }
}

void merge_launches(LaunchPartial& into, LaunchPartial& from) {
  into.all.merge(std::move(from.all));
  for (auto& [name, sums] : from.calls) into.calls[name].merge(std::move(sums));
  for (auto& [key, sums] : from.kernels) into.kernels[key].merge(std::move(sums));
}

Answer run_launches(const RunView& view, const Options& options) {
  const LaunchSettings settings{.shorter_than = options.duration("short"),
                                .kernels_only = options.on("kernels-only"),
                                .each = options.on("each")};
  auto partials = per_window<LaunchPartial>(
      view, [&](const WindowView& window) { return launch_sums(window, settings); });

  Answer answer;
  for (const base::TableShape& shape : kLaunchesTables) answer.tables.emplace_back(shape);
  std::map<std::int32_t, LaunchPartial> ranks;
  for (std::size_t w = 0; w < partials.size(); ++w) {
    const WindowView& window = view.windows[w];
    if (!window.work.empty()) merge_launches(ranks[window.rank], partials[w]);
    for (std::size_t s = 0; window.has_steps && s < window.steps.size(); ++s) {
      if (!window.steps[s].selected || window.work.empty()) continue;
      add_sums(answer.tables[3], {window.rank, window.window, window.steps[s].number},
               partials[w].steps[s]);
    }
    add_launches_lines(answer.tables[4], window, partials[w].lines);
  }
  for (auto& [rank, sums] : ranks) {
    add_launches_rank(answer.tables, rank, sums, static_cast<std::size_t>(options.count("top")));
  }
  if (!view.has_device_work()) answer.remarks.push_back(why_no_device_work(view));
  return answer;
}

}  // namespace

const Analysis kLaunches{
    .name = "launches",
    .title = "Launches",
    .question = "What does it cost to start work on the GPU, and how long does work wait to run?",
    .parameters = kLaunchesParameters,
    .tables = kLaunchesTables,
    .run = run_launches,
};

}  // namespace stepscope::analysis
