// What it costs the host to start work, and how long work then waits to run. Which calls launch is
// known from correlations, not from names, so every vendor's are seen, and graphs too.
#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/arithmetic/durations.h"
#include "analysis/arithmetic/sorted_runs.h"
#include "analysis/key_columns.h"
#include "analysis/registry.h"
#include "analysis/view.h"

namespace stepscope::analysis {
namespace {

// What launching costs: the sums of the launches analysis and how its tables are filled.

// One call and the device work it started: one piece, or the many of a graph.
struct Launch {
  trace::Row call = trace::kNoRow;
  base::Nanos cost = 0;                 // how long the call lasted
  std::span<const std::uint32_t> work;  // indices into WindowView::work, by start
  base::Nanos work_ns = 0;              // of all pieces together
  bool is_graph() const { return work.size() > 1; }
  bool outlasts_its_work() const { return work_ns < cost; }
};

// The counted launches of a window in the order of their calls' rows.
struct Launches {
  std::vector<std::uint32_t> work;  // by launch
  std::vector<Launch> list;         // each has its part of `work`
};

// From the end of the call to the start of the work; 0 when the work began before.
base::Nanos queue_delay(const WindowView& window, const Launch& launch, const Work& piece);

// Totals of launches, or of the work of one name.
struct LaunchSums {
  std::uint64_t calls = 0, work = 0;
  base::Nanos cost = 0;  // of the calls, together
  Durations delay;       // per piece
  Durations costs;       // per call; only of one name of call
  Durations lengths;     // per piece; only of one name of work
  std::uint64_t short_kernels = 0;
  base::Nanos short_ns = 0;
  std::uint64_t outlasting = 0;  // calls that lasted longer than all they started
  std::uint64_t graphs = 0, graph_work = 0;
  std::uint64_t without_call = 0;

  double mean_cost() const;  // 0 without calls
  void merge(LaunchSums&& other);
};

struct LaunchLine {
  std::uint32_t work = 0;
  trace::Row call = trace::kNoRow;
  base::Nanos cost = 0, delay = 0;
  bool graph = false;
};

struct LaunchPartial {
  LaunchSums all;
  std::map<std::string_view, LaunchSums> calls;                          // by name of the call
  std::map<std::pair<std::string_view, WorkClass>, LaunchSums> kernels;  // by name of the work
  std::vector<LaunchSums> steps;                                         // by index
  std::vector<LaunchLine> lines;                                         // where asked for
};

struct LaunchSettings {
  base::Nanos shorter_than = 0;
  bool kernels_only = false;
  bool each = false;
};

using base::Nanos;

bool is_kernel(const Work& piece) {
  return piece.work_class == WorkClass::kCompute || piece.work_class == WorkClass::kCommunication;
}

void add_piece(LaunchSums& sums, const Work& piece, Nanos delay, Nanos shorter_than) {
  ++sums.work;
  sums.delay.add(delay);
  if (is_kernel(piece) && piece.length() < shorter_than) {
    ++sums.short_kernels;
    sums.short_ns += piece.length();
  }
}

void add_call(LaunchSums& sums, const Launch& launch) {
  ++sums.calls;
  sums.cost += launch.cost;
  if (launch.outlasts_its_work()) ++sums.outlasting;
  if (launch.is_graph()) {
    ++sums.graphs;
    sums.graph_work += launch.work.size();
  }
}

// Most sums of a run come from one window: these move.
void merge_into(Durations& all, Durations&& more) {
  if (all.count() == 0) {
    all = std::move(more);
  } else {
    all.merge(more);
  }
}

double LaunchSums::mean_cost() const {
  return calls == 0 ? 0 : static_cast<double>(cost) / static_cast<double>(calls);
}

void LaunchSums::merge(LaunchSums&& other) {
  calls += other.calls;
  work += other.work;
  cost += other.cost;
  merge_into(delay, std::move(other.delay));
  merge_into(costs, std::move(other.costs));
  merge_into(lengths, std::move(other.lengths));
  short_kernels += other.short_kernels;
  short_ns += other.short_ns;
  outlasting += other.outlasting;
  graphs += other.graphs;
  graph_work += other.graph_work;
  without_call += other.without_call;
}

Launches launches_of(const WindowView& window, bool kernels_only) {
  std::vector<std::pair<trace::Row, std::uint32_t>> order;
  order.reserve(window.work.size());
  for (std::uint32_t i = 0; i < window.work.size(); ++i) {
    const Work& piece = window.work[i];
    if (piece.launch == trace::kNoRow || !window.counts(piece)) continue;
    if (kernels_only && !is_kernel(piece)) continue;
    order.emplace_back(piece.launch, i);
  }
  sort_runs(order, [](const auto& a, const auto& b) { return a.first < b.first; });
  Launches out;
  out.work.reserve(order.size());
  for (const auto& [call, index] : order) out.work.push_back(index);
  for (std::size_t first = 0, end = 0; first < order.size(); first = end) {
    const trace::Row call = order[first].first;
    Launch launch{.call = call, .cost = window.trace->duration()[call], .work = {}};
    for (; end < order.size() && order[end].first == call; ++end) {
      launch.work_ns += window.work[order[end].second].length();
    }
    launch.work = std::span(out.work).subspan(first, end - first);
    out.list.push_back(launch);
  }
  return out;
}

Nanos queue_delay(const WindowView& window, const Launch& launch, const Work& piece) {
  return std::max<Nanos>(0, piece.start - window.trace->end(launch.call));
}

LaunchPartial launch_sums(const WindowView& window, const LaunchSettings& settings) {
  LaunchPartial out;
  out.steps.resize(window.steps.size());
  // By number first: a text per event would be compared millions of times.
  std::unordered_map<base::StringId, LaunchSums> calls;
  std::unordered_map<std::uint64_t, LaunchSums> kernels;
  const auto step_of = [&](const Work& piece) {
    return piece.step < 0 ? nullptr : &out.steps[static_cast<std::size_t>(piece.step)];
  };
  const Launches launches = launches_of(window, settings.kernels_only);
  for (const Launch& launch : launches.list) {
    LaunchSums& named = calls[window.trace->name()[launch.call]];
    named.costs.add(launch.cost);
    LaunchSums* const step = step_of(window.work[launch.work.front()]);
    add_call(out.all, launch);
    add_call(named, launch);
    if (step != nullptr) add_call(*step, launch);
    for (const std::uint32_t index : launch.work) {
      const Work& piece = window.work[index];
      const Nanos delay = queue_delay(window, launch, piece);
      LaunchSums& kernel = kernels[std::uint64_t{window.trace->name()[piece.row]} << 8 |
                                   static_cast<std::uint64_t>(piece.work_class)];
      for (LaunchSums* sums : {&out.all, &named, step, &kernel}) {
        if (sums != nullptr) add_piece(*sums, piece, delay, settings.shorter_than);
      }
      kernel.lengths.add(piece.length());
      // A graph's call has no cost per kernel; a single kernel's has.
      if (launch.is_graph()) {
        ++kernel.graph_work;
      } else {
        add_call(kernel, launch);
      }
      if (settings.each) {
        out.lines.push_back({index, launch.call, launch.cost, delay, launch.is_graph()});
      }
    }
  }
  for (auto& [name, sums] : calls) out.calls[window.trace->text(name)].merge(std::move(sums));
  for (auto& [id, sums] : kernels) {
    const auto name = static_cast<base::StringId>(id >> 8);
    out.kernels[{window.trace->text(name), static_cast<WorkClass>(id & 0xff)}].merge(
        std::move(sums));
  }
  for (const Work& piece : window.work) {
    if (piece.launch != trace::kNoRow || !window.counts(piece)) continue;
    if (settings.kernels_only && !is_kernel(piece)) continue;
    ++out.all.without_call;
    if (LaunchSums* const step = step_of(piece); step != nullptr) ++step->without_call;
  }
  return out;
}

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
