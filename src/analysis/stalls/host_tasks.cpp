// What the host itself works on while it launches nothing to compute, task by task.
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/key_columns.h"
#include "analysis/registry.h"
#include "analysis/stalls/host_work.h"
#include "analysis/stalls/host_work_items.h"
#include "analysis/view.h"

namespace stepscope::analysis {
namespace {

using base::Bytes;
using base::Cell;
using base::Nanos;
using base::Null;
using base::Type;
using base::Unit;

constexpr base::ColumnShape kTask{"task", Type::kText, Unit::kNone,
                                  "compile, update, data, inspect, operators or debug"};

constexpr std::array kTaskColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    kTask,
    {"episodes", Type::kInt, Unit::kCount, "stretches of host time in which it is done"},
    {"steps", Type::kInt, Unit::kCount, "in which one ends"},
    {"host_ns", Type::kInt, Unit::kNanos, "their lengths, added"},
    {"longest_ns", Type::kInt, Unit::kNanos, "of the longest"},
    {"operators_ns", Type::kInt, Unit::kNanos, "of it, in operators that work on the CPU"},
    {"quiet_ns", Type::kInt, Unit::kNanos, "of it, no thread that launches work was in any"},
    {"down", Type::kInt, Unit::kCount, "copies to the host that are part of it"},
    {"down_bytes", Type::kInt, Unit::kBytes, "of those"},
    {"up", Type::kInt, Unit::kCount, "copies to the device that are part of it"},
    {"up_bytes", Type::kInt, Unit::kBytes, "of those"},
    {"pageable_bytes", Type::kInt, Unit::kBytes, "of those, from memory that is not pinned"},
});
constexpr std::array kTaskOperatorColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    kTask,
    {"op", Type::kText, Unit::kNone, "the operator on the CPU, or the range that compiles"},
    {"purpose", Type::kText, Unit::kNone, "random, statistics, or null: its name does not say"},
    {"calls", Type::kInt, Unit::kCount, "of it, in such stretches"},
    {"sum_ns", Type::kInt, Unit::kNanos, "they took"},
    {"longest_ns", Type::kInt, Unit::kNanos, "of the longest"},
    key::kWindow,
    {"step", Type::kInt, Unit::kId, "of the longest; null: in none"},
    {"event", Type::kInt, Unit::kId, "place of the longest in the file"},
});
constexpr std::array kSignColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    {"backward_nodes", Type::kInt, Unit::kCount, "of autograd that ran"},
    {"checked_nodes", Type::kInt, Unit::kCount, "of them, with results searched for NaN"},
    {"check_work_ns", Type::kInt, Unit::kNanos, "of devices, launched by those searches"},
    {"long_launches", Type::kInt, Unit::kCount, "calls that launch a kernel of 10 µs or more"},
    {"held_launches", Type::kInt, Unit::kCount, "of them, that returned after its end"},
    {"compiled_calls", Type::kInt, Unit::kCount, "of compiled regions, the outermost"},
    {"compiled_frames", Type::kInt, Unit::kCount, "functions or parts of one that they are of"},
    {"most_versions", Type::kInt, Unit::kCount, "that one of those has been compiled to"},
});

constexpr std::array<std::string_view, 1> kTasksY = {"host_ns"};
constexpr std::array kTaskTables = std::to_array<base::TableShape>({
    {"tasks",
     "one task of the host on one rank",
     kTaskColumns,
     {base::Chart::kBars, "task", kTasksY, "rank"}},
    {"operators", "one operator that works on the CPU, the longest of each task first",
     kTaskOperatorColumns},
    {"signs", "one rank: what settings that make launching slower leave in a trace", kSignColumns},
});
constexpr std::array kTaskParameters = std::to_array<Parameter>({
    {"top", ParameterType::kCount, "5", "operators of each task per rank. 0: all"},
});

struct TaskSum {
  std::int64_t episodes = 0, down = 0, up = 0;
  Nanos host = 0, longest = 0, operators = 0, quiet = 0;
  Bytes down_bytes = 0, up_bytes = 0, pageable_bytes = 0;
  std::set<std::pair<std::uint32_t, std::int32_t>> steps;  // of windows

  void add(const HostEpisode& one) {
    ++episodes;
    host += one.time.length();
    longest = std::max(longest, one.time.length());
    operators += one.operators;
    quiet += one.quiet;
    down += one.down;
    up += one.up;
    down_bytes += one.down_bytes;
    up_bytes += one.up_bytes;
    pageable_bytes += one.pageable_bytes;
  }
};

struct TaskOperator {
  std::int64_t calls = 0;
  Nanos sum = 0, longest = -1;
  std::uint32_t window = 0, event = 0;
  Cell step = Null{};
};

struct RankTasks {
  std::array<TaskSum, kHostTasks> tasks;
  std::array<std::map<std::string_view, TaskOperator>, kHostTasks> operators;
  HostSigns signs;
};

void add_operator(RankTasks& rank, const WindowView& window, HostTask task, trace::Row row) {
  const trace::Trace& trace = *window.trace;
  TaskOperator& sum = rank.operators[static_cast<std::size_t>(task)][trace.name_text(row)];
  ++sum.calls;
  sum.sum += trace.duration()[row];
  if (trace.duration()[row] <= sum.longest) return;
  sum.longest = trace.duration()[row];
  sum.window = window.window;
  sum.event = trace.ordinal()[row];
  const std::int32_t step = step_at(window.steps, trace.start()[row]);
  const bool known = step >= 0 && window.has_steps;
  sum.step = known ? Cell(window.steps[static_cast<std::size_t>(step)].number) : Cell(Null{});
}

void add_window(RankTasks& rank, const WindowView& window) {
  const HostWork& work = host_work(window);
  std::vector<bool> counts(work.episodes.size());
  for (std::size_t i = 0; i < work.episodes.size(); ++i) {
    const HostEpisode& one = work.episodes[i];
    // What ends in a step is done for it: a pause before a batch may begin in the one before.
    const Nanos end = std::max(one.time.start, one.time.end - 1);
    const std::int32_t step = step_at(window.steps, end);
    counts[i] = step >= 0 && window.counts_at(end);
    if (!counts[i]) continue;
    TaskSum& sum = rank.tasks[static_cast<std::size_t>(one.task)];
    sum.add(one);
    sum.steps.insert({window.window, step});
    if (one.task == HostTask::kCompile) add_operator(rank, window, one.task, one.row);
  }
  for (const CpuOperator& one : work.operators) {
    if (counts[one.episode]) add_operator(rank, window, work.episodes[one.episode].task, one.row);
  }
  const HostSigns& signs = work.signs;
  rank.signs.backward_nodes += signs.backward_nodes;
  rank.signs.checked_nodes += signs.checked_nodes;
  rank.signs.check_work += signs.check_work;
  rank.signs.long_launches += signs.long_launches;
  rank.signs.held_launches += signs.held_launches;
  rank.signs.compiled_calls += signs.compiled_calls;
  rank.signs.compiled_frames = std::max(rank.signs.compiled_frames, signs.compiled_frames);
  rank.signs.most_versions = std::max(rank.signs.most_versions, signs.most_versions);
}

void add_rank(std::vector<base::Table>& tables, std::int32_t number, const RankTasks& rank,
              std::size_t top) {
  for (std::size_t i = 0; i < kHostTasks; ++i) {
    const TaskSum& sum = rank.tasks[i];
    if (sum.episodes == 0) continue;
    const std::string_view task = name_of(static_cast<HostTask>(i));
    tables[0].add({number, task, sum.episodes, sum.steps.size(), sum.host, sum.longest,
                   sum.operators, sum.quiet, sum.down, sum.down_bytes, sum.up, sum.up_bytes,
                   sum.pageable_bytes});
    std::vector<std::pair<std::string_view, TaskOperator>> order(rank.operators[i].begin(),
                                                                 rank.operators[i].end());
    std::ranges::stable_sort(order, std::ranges::greater{},
                             [](const auto& one) { return one.second.sum; });
    if (top != 0 && order.size() > top) order.resize(top);
    for (const auto& [op, one] : order) {
      tables[1].add({number, task, op, base::text_or_null(name_of(purpose_of(op))), one.calls,
                     one.sum, one.longest, one.window, one.step, one.event});
    }
  }
  const HostSigns& signs = rank.signs;
  if (signs.backward_nodes + signs.long_launches + signs.compiled_calls == 0) return;
  tables[2].add({number, signs.backward_nodes, signs.checked_nodes, signs.check_work,
                 signs.long_launches, signs.held_launches, signs.compiled_calls,
                 signs.compiled_frames, signs.most_versions});
}

Answer run_host_tasks(const RunView& view, const Options& options) {
  // Made side by side, then read in the order of the windows.
  per_window<int>(view, [](const WindowView& window) {
    host_work(window);
    return 0;
  });
  std::map<std::int32_t, RankTasks> ranks;
  for (const WindowView& window : view.windows) add_window(ranks[window.rank], window);
  Answer answer;
  for (const base::TableShape& shape : kTaskTables) answer.tables.emplace_back(shape);
  const auto top = static_cast<std::size_t>(options.count("top"));
  for (const auto& [number, rank] : ranks) add_rank(answer.tables, number, rank, top);
  if (!view.has_device_work()) answer.remarks.push_back(why_no_device_work(view));
  return answer;
}

}  // namespace

const Analysis kHostWork{
    .name = "host-work",
    .title = "Work of the host",
    .question = "What does the CPU work on itself while it gives the GPU nothing to compute?",
    .parameters = kTaskParameters,
    .tables = kTaskTables,
    .run = run_host_tasks,
};

}  // namespace stepscope::analysis
