// What on the host keeps the devices waiting, by what one would change about it.
#include <algorithm>
#include <array>
#include <map>
#include <string>

#include "analysis/analysis.h"
#include "analysis/key_columns.h"
#include "analysis/registry.h"
#include "analysis/share_of.h"
#include "analysis/stalls/stall_sums.h"
#include "analysis/view.h"

namespace stepscope::analysis {
namespace {

using base::Cell;
using base::Nanos;
using base::Null;
using base::Type;
using base::Unit;

constexpr base::ColumnShape kStall{
    "stall", Type::kText, Unit::kNone,
    "input, save, upload, sync, allocator, optimizer, "
    "communication, collector, search, compile, update, data, inspect, operators, debug, driver, "
    "pause, or launch: none of these"};
constexpr base::ColumnShape kWaits{"waits", Type::kInt, Unit::kCount, "how often a GPU waited"};
constexpr base::ColumnShape kStallsIdle{"idle_ns", Type::kInt, Unit::kNanos,
                                        "idle time of the rank's GPUs, whole waits"};
constexpr base::ColumnShape kStallsCount{"count", Type::kInt, Unit::kCount,
                                         "calls or ranges of this sort; of saves, copies"};
constexpr base::ColumnShape kStallsHost{"host_ns", Type::kInt, Unit::kNanos,
                                        "they took on the host"};
constexpr base::ColumnShape kCopies{
    "copy_ns", Type::kInt, Unit::kNanos,
    "of saves, uploads, updates and inspections: copies ran and nothing computed meanwhile"};
constexpr base::ColumnShape kStallsBytes{"bytes", Type::kInt, Unit::kBytes, "of those copies"};

constexpr std::array kKindColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    kStall,
    kStallsCount,
    kStallsHost,
    kWaits,
    kStallsIdle,
    {"share", Type::kReal, Unit::kShare, "idle_ns of the time of all steps and GPUs"},
    {"inside_ns", Type::kInt, Unit::kNanos,
     "of it, the host was in the call or range; of launch and pause: in any operator or call"},
    {"longest_ns", Type::kInt, Unit::kNanos, "the longest single wait"},
    {"held_ns", Type::kInt, Unit::kNanos,
     "of idle_ns, the call that launches the next work did not return"},
    {"first_use_ns", Type::kInt, Unit::kNanos,
     "of held_ns, before work of a name that the trace shows there for the first time"},
    kCopies,
    kStallsBytes,
    {"work", Type::kInt, Unit::kCount, "of the optimizer: kernels, copies and memsets it launched"},
    {"work_ns", Type::kInt, Unit::kNanos, "their lengths, added"},
    {"steps", Type::kInt, Unit::kCount, "steps in which it occurs"},
    {"devices", Type::kInt, Unit::kCount, "GPUs of the rank, over which idle_ns is added"},
    {"without_profiler_ns", Type::kInt, Unit::kNanos,
     "of idle_ns, left at the least without a profiler; null: nothing tells"},
    {"usual_ns", Type::kInt, Unit::kNanos,
     "the same, with recording as costly as it usually is; null: nothing tells"},
});
constexpr std::array kStallsStepColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    key::kWindow,
    key::kStep,
    kStall,
    kStallsCount,
    kStallsHost,
    kWaits,
    kStallsIdle,
    kCopies,
});
constexpr std::array kPlaceColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    kStall,
    {"call", Type::kText, Unit::kNone, "the call of the runtime that kept the host, if it was one"},
    {"op", Type::kText, Unit::kNone, "the operator it is part of, else the annotation"},
    {"frames", Type::kText, Unit::kNone,
     "Python functions around it, the innermost first; null: not recorded"},
    kWaits,
    kStallsIdle,
    {"longest_ns", Type::kInt, Unit::kNanos, "the longest single wait"},
    {"window", Type::kInt, Unit::kId, "of the longest wait"},
    {"step", Type::kInt, Unit::kId, "in which the event began; without one, that of the wait"},
    {"event", Type::kInt, Unit::kId, "place in the file of what kept the host in the longest wait"},
});

constexpr std::array kCallColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    {"stall", Type::kText, Unit::kNone, "allocator or driver"},
    {"call", Type::kText, Unit::kNone, "of the runtime or the driver"},
    {"count", Type::kInt, Unit::kCount, "in the steps"},
    {"host_ns", Type::kInt, Unit::kNanos, "they took on the host, on all threads"},
    {"runs", Type::kInt, Unit::kCount,
     "rows of this call on a thread, without another call of this table between"},
    {"steps", Type::kInt, Unit::kCount, "in which it occurs"},
    kWaits,
    kStallsIdle,
});

constexpr std::array kOverheadColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    {"operators", Type::kInt, Unit::kCount, "recorded in the steps, on threads that launch work"},
    {"calls", Type::kInt, Unit::kCount, "of the runtime and the driver that launch no kernel"},
    {"launches", Type::kInt, Unit::kCount, "calls that launch kernels"},
    {"functions", Type::kInt, Unit::kCount, "of Python"},
    {"ranges", Type::kInt, Unit::kCount, "named by the program or a framework (record_function)"},
    {"allocations", Type::kInt, Unit::kCount, "of memory, and frees (profile_memory)"},
    {"graph_nodes", Type::kInt, Unit::kCount, "kernels of graphs beyond the first of each launch"},
    {"wrapper_operators", Type::kInt, Unit::kCount,
     "operators that do nothing but call one other operator"},
    {"wrapper_ns", Type::kInt, Unit::kNanos,
     "lower quartile of the time in them that is not the other's; null: fewer than 20"},
    {"launch_ns", Type::kInt, Unit::kNanos,
     "median length of calls that launch kernels; null: fewer than 20"},
    {"cost_ns", Type::kInt, Unit::kNanos,
     "recording all of this usually takes the host so long; null: nothing tells"},
});

constexpr std::array<std::string_view, 1> kStallsY = {"idle_ns"};
constexpr std::array kStallsTables = std::to_array<base::TableShape>({
    {"kinds",
     "one kind of stall on one rank",
     kKindColumns,
     {base::Chart::kBars, "stall", kStallsY, "rank"}},
    {"steps", "one kind of stall in one step", kStallsStepColumns},
    {"places", "one place in the program that keeps the GPU waiting, the worst of each sort first",
     kPlaceColumns},
    {"calls", "one call that takes memory from the driver, loads code or makes streams",
     kCallColumns},
    {"profiler-overhead",
     "what was recorded on the host of one rank, and what it takes to record it", kOverheadColumns},
});
constexpr std::array kStallsParameters = std::to_array<Parameter>({
    {"delay", ParameterType::kDuration, "30us",
     "a shorter gap before work that was already queued is the device's own pause"},
    {"pause", ParameterType::kDuration, "2ms",
     "at least this with nothing recorded on the host is a pause, if it fills half of the wait"},
    {"top", ParameterType::kCount, "5", "places of each sort per rank. 0: all"},
});

struct RankStalls {
  StallSums all;
  std::array<std::int64_t, kStalls> steps{};
  std::map<StallKey, StallPlace> places;
  DriverCalls calls;
  OverheadSums noted;
  Nanos measured = 0;  // of all its devices
  std::int64_t devices = 0;
  Nanos each = 0;  // what recording an operator takes; 0: nothing tells

  Cell without_profiler(Nanos idle) const { return each > 0 ? Cell(idle) : Cell(Null{}); }
};

void add_places(base::Table& table, std::int32_t rank, const RankStalls& stalls, std::size_t top) {
  std::vector<std::pair<StallKey, StallPlace>> order(stalls.places.begin(), stalls.places.end());
  std::ranges::stable_sort(order, [](const auto& a, const auto& b) {
    return std::tuple(std::get<0>(a.first), -a.second.idle) <
           std::tuple(std::get<0>(b.first), -b.second.idle);
  });
  std::array<std::size_t, kStalls> taken{};
  for (const auto& [key, place] : order) {
    const auto& [stall, call, op, frames] = key;
    if (taken[static_cast<std::size_t>(stall)]++ >= top && top != 0) continue;
    table.add({rank, name_of(stall), base::text_or_null(call), base::text_or_null(op),
               base::text_or_null(frames), place.waits, place.idle, place.longest, place.window,
               place.step >= 0 ? Cell(place.step) : Cell(Null{}),
               place.has_event ? Cell(place.event) : Cell(Null{})});
  }
}

void add_kinds(base::Table& table, std::int32_t rank, const RankStalls& stalls) {
  for (std::size_t i = 0; i < kStalls; ++i) {
    const StallSum& sum = stalls.all[i];
    if (sum.empty()) continue;
    table.add({rank, name_of(static_cast<Stall>(i)), sum.count, sum.host, sum.waits, sum.idle,
               share_of(sum.idle, stalls.measured), sum.inside, sum.longest, sum.held,
               sum.first_use, sum.copies, sum.bytes, sum.work, sum.work_ns, stalls.steps[i],
               stalls.devices, stalls.without_profiler(sum.without_profiler),
               stalls.without_profiler(sum.usual)});
  }
}

void add_calls(base::Table& table, std::int32_t rank, const RankStalls& stalls) {
  std::vector<std::pair<std::pair<Stall, std::string>, DriverCall>> order(stalls.calls.begin(),
                                                                          stalls.calls.end());
  std::ranges::stable_sort(order, [](const auto& a, const auto& b) {
    return std::tuple(a.first.first, -a.second.host) < std::tuple(b.first.first, -b.second.host);
  });
  for (const auto& [key, call] : order) {
    table.add({rank, name_of(key.first), key.second, call.count, call.host, call.runs, call.steps,
               call.waits, call.idle});
  }
}

void add_overhead(base::Table& table, std::int32_t rank, const RankStalls& stalls) {
  const OverheadSums& noted = stalls.noted;
  if (noted.count(OverheadKind::kOperator) + noted.count(OverheadKind::kCall) +
          noted.count(OverheadKind::kLaunch) ==
      0) {
    return;
  }
  const auto or_null = [](Nanos length) { return length > 0 ? Cell(length) : Cell(Null{}); };
  table.add({rank, noted.count(OverheadKind::kOperator), noted.count(OverheadKind::kCall),
             noted.count(OverheadKind::kLaunch), noted.count(OverheadKind::kFunction),
             noted.count(OverheadKind::kRange), noted.count(OverheadKind::kMemory),
             noted.count(OverheadKind::kNode), static_cast<std::int64_t>(noted.wrappers.size()),
             or_null(noted.wrapper_ns()), or_null(noted.launch_ns()),
             or_null(cost_of(noted.counts, overhead_cost(noted)))});
}

Answer run_stalls(const RunView& view, const Options& options) {
  const StallRules rules{.delay = options.duration("delay"), .pause = options.duration("pause")};
  const auto partials = per_window<WindowStalls>(view, [&](const WindowView& window) {
    return window_stalls(window, rules, recorded_collections(view, window));
  });
  base::Table kinds(kStallsTables[0]);
  base::Table steps(kStallsTables[1]);
  base::Table places(kStallsTables[2]);
  base::Table calls(kStallsTables[3]);
  base::Table noted(kStallsTables[4]);
  std::map<std::int32_t, RankStalls> ranks;
  for (std::size_t w = 0; w < partials.size(); ++w) {
    const WindowView& window = view.windows[w];
    RankStalls& rank = ranks[window.rank];
    const auto devices = static_cast<std::int64_t>(window.devices.size());
    rank.devices = std::max(rank.devices, devices);
    rank.measured += devices * window.measured_ns();
    for (std::size_t i = 0; i < kStalls; ++i) rank.all[i].merge(partials[w].all[i]);
    for (const auto& [number, sums] : partials[w].steps) {
      for (std::size_t i = 0; i < kStalls; ++i) {
        const StallSum& sum = sums[i];
        if (sum.empty()) continue;
        ++rank.steps[i];
        steps.add({window.rank, window.window, number, name_of(static_cast<Stall>(i)), sum.count,
                   sum.host, sum.waits, sum.idle, sum.copies});
      }
    }
    for (const auto& [key, place] : partials[w].places) rank.places[key].merge(place);
    for (const auto& [key, call] : partials[w].calls) rank.calls[key].merge(call);
    rank.noted.merge(partials[w].noted);
  }
  for (auto& [number, rank] : ranks) {
    rank.each = rank.noted.operator_ns();
    add_kinds(kinds, number, rank);
    add_places(places, number, rank, static_cast<std::size_t>(options.count("top")));
    add_calls(calls, number, rank);
    add_overhead(noted, number, rank);
  }
  Answer answer;
  for (base::Table* table : {&kinds, &steps, &places, &calls, &noted})
    answer.tables.push_back(std::move(*table));
  if (!view.has_device_work()) answer.remarks.push_back(why_no_device_work(view));
  return answer;
}

}  // namespace

const Analysis kStallsAnalysis{
    .name = "stalls",
    .title = "Host stalls",
    .question = "What on the host keeps the GPU waiting, and where is it in the code?",
    .parameters = kStallsParameters,
    .tables = kStallsTables,
    .run = run_stalls,
};

}  // namespace stepscope::analysis
