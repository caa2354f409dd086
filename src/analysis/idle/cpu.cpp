// What the host did while the GPU waited: idle time shared out among what the launching thread was
// in, by operator and by Python frame, and by the call that ended the wait.
#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/idle/cpu_waits.h"
#include "analysis/key_columns.h"
#include "analysis/registry.h"
#include "analysis/share_of.h"
#include "analysis/steps/within.h"
#include "analysis/view.h"

namespace stepscope::analysis {
namespace {

using base::Cell;
using base::ColumnShape;
using base::Nanos;
using base::Null;
using base::Type;
using base::Unit;

constexpr std::array kCpuParameters = {
    Parameter{"top", ParameterType::kCount, "20",
              "rows of each table per rank; the rest is one row. 0: all"},
    kWithin,
};

constexpr std::array kSums = std::to_array<ColumnShape>({
    {"idle_ns", Type::kInt, Unit::kNanos,
     "idle time of the rank's GPUs in which the host was in it"},
    {"share", Type::kReal, Unit::kShare, "of the idle time of the rank's GPUs; rows add up to 1"},
    {"waits", Type::kInt, Unit::kCount, "in how many waits of a GPU it took part"},
    {"longest_ns", Type::kInt, Unit::kNanos, "its largest part of one wait"},
});
template <std::size_t N>
constexpr auto with_sums(const std::array<ColumnShape, N>& before) {
  std::array<ColumnShape, N + kSums.size()> all{};
  std::ranges::copy(before, all.begin());
  std::ranges::copy(kSums, all.begin() + N);
  return all;
}
constexpr auto kCpuOperatorColumns = with_sums(std::to_array<ColumnShape>({
    key::kRank,
    {"doing", Type::kText, Unit::kNone,
     "the innermost operator, annotation or call into the runtime that the launching thread was "
     "in; "
     "in parentheses: in none; null: all the others together"},
    {"kind", Type::kText, Unit::kNone, "cpu_op, annotation, runtime, driver or another"},
}));
constexpr auto kCpuFrameColumns = with_sums(std::to_array<ColumnShape>({
    key::kRank,
    {"frame", Type::kText, Unit::kNone,
     "the innermost Python function that thread was in; in parentheses: in none; null: all the "
     "others together"},
}));
constexpr auto kPathColumns = with_sums(std::to_array<ColumnShape>({
    key::kRank,
    {"path", Type::kText, Unit::kNone,
     "the Python functions that thread was in, the outermost first, by ';'; in parentheses: in "
     "none; null: all the others together"},
}));
constexpr auto kEndColumns = with_sums(std::to_array<ColumnShape>({
    key::kRank,
    {"ended_by", Type::kText, Unit::kNone,
     "the operator that launched the work that ended the wait, else its annotation, else the call "
     "itself; in parentheses: nothing known; null: all the others together"},
}));
constexpr std::array kThreadColumns = std::to_array<ColumnShape>({
    key::kRank,
    {"thread", Type::kText, Unit::kNone, "number of a thread on the host"},
    {"thread_name", Type::kText, Unit::kNone, "as recorded"},
    {"ended_waits", Type::kInt, Unit::kCount, "waits that a launch of this thread ended"},
    {"recorded_ns", Type::kInt, Unit::kNanos,
     "idle time of the rank's GPUs in which something of this thread was recorded, steps apart"},
    {"share", Type::kReal, Unit::kShare, "of the idle time; threads run at once and do not add up"},
});
constexpr std::array<std::string_view, 1> kCpuBar = {"idle_ns"};
constexpr std::array kCpuTables = std::to_array<base::TableShape>({
    {"operators",
     "one thing the host was in while a GPU waited, the longest first",
     kCpuOperatorColumns,
     {base::Chart::kBars, "doing", kCpuBar, "rank"}},
    {"frames",
     "one Python function the host was in while a GPU waited",
     kCpuFrameColumns,
     {base::Chart::kBars, "frame", kCpuBar, "rank"}},
    {"paths", "one chain of Python functions the host was in while a GPU waited", kPathColumns},
    {"ends", "what launched the work that ended the waits", kEndColumns},
    {"threads", "one thread of the host", kThreadColumns},
});

void write(base::Table& table, std::int32_t rank, const HostParts& parts, Nanos idle,
           std::size_t top) {
  const bool with_kind = table.width() == kCpuOperatorColumns.size();
  std::vector<std::pair<const HostKey*, const WaitSum*>> lines;
  lines.reserve(parts.size());
  for (const auto& [key, part] : parts) lines.emplace_back(&key, &part);
  std::ranges::stable_sort(lines, std::ranges::greater{},
                           [](const auto& line) { return line.second->idle; });
  const auto add = [&](const Cell& text, const Cell& kind, const WaitSum& part) {
    std::vector<Cell> cells;
    cells.reserve(table.width());
    cells.emplace_back(rank);
    cells.push_back(text);
    if (with_kind) cells.push_back(kind);
    cells.emplace_back(part.idle);
    cells.emplace_back(share_of(part.idle, idle));
    cells.emplace_back(part.waits);
    cells.emplace_back(part.longest);
    table.add(cells);
  };
  const bool fits = top == 0 || lines.size() <= top + 1;
  const std::size_t shown = fits ? lines.size() : top;
  for (const auto& [key, part] : std::span(lines).first(shown)) {
    add(key->first, key->second.empty() ? Cell(Null{}) : Cell(key->second), *part);
  }
  if (fits) return;
  WaitSum rest;
  for (const auto& [key, part] : std::span(lines).subspan(shown)) rest.merge(*part);
  add(Null{}, Null{}, rest);
}

// Where no Python frame of a launching thread is seen while a GPU waited.
std::string why_no_frames(const RunView& view) {
  bool python = false, launches = false;
  for (const WindowView& window : view.windows) {
    const auto kinds = window.trace->kind();
    python = python || std::ranges::find(kinds, trace::Kind::kPython) != kinds.end();
    launches = launches || std::ranges::any_of(window.work, [](const Work& piece) {
                 return piece.launch != trace::kNoRow;
               });
  }
  if (!python) {
    return "No Python frames were recorded while a GPU waited: profile with with_stack=True to see "
           "them.";
  }
  if (!launches) {
    return "The calls that launched the GPU's work were not recorded, so it is not known which "
           "thread fed it: the Python frames of the trace are not assigned.";
  }
  return "The trace has Python frames, but none on a launching thread while a GPU waited.";
}

Answer run_cpu(const RunView& view, const Options& options) {
  const Within within = within_of(options);
  const auto top = static_cast<std::size_t>(options.count("top"));
  const auto partials = per_window<HostWaits>(
      view, [&](const WindowView& window) { return host_waits(window, within); });
  std::map<std::int32_t, HostWaits> ranks;
  for (std::size_t w = 0; w < partials.size(); ++w) {
    ranks[view.windows[w].rank].merge(partials[w]);
  }
  Answer answer;
  for (const base::TableShape& shape : kCpuTables) answer.tables.emplace_back(shape);
  bool frames = false;
  for (const auto& [rank, about] : ranks) {
    for (std::size_t t = 0; t < about.parts.size(); ++t) {
      write(answer.tables[t], rank, about.parts[t], about.idle, top);
    }
    frames |= about.parts[1].size() > 1;
    if (about.idle == 0) continue;
    for (const auto& [id, thread] : about.threads) {
      answer.tables[4].add({rank, id, thread.name.empty() ? Cell(Null{}) : Cell(thread.name),
                            thread.ended, thread.recorded, share_of(thread.recorded, about.idle)});
    }
  }
  if (!view.has_device_work()) {
    answer.remarks.push_back(why_no_device_work(view));
  } else if (!frames) {
    answer.remarks.emplace_back(why_no_frames(view));
  }
  return answer;
}

}  // namespace

const Analysis kCpu{
    .name = "cpu",
    .title = "Host while the GPU waits",
    .question = "What did the host do while the GPU had nothing to do?",
    .parameters = kCpuParameters,
    .tables = kCpuTables,
    .run = run_cpu,
};

}  // namespace stepscope::analysis
