// What the run said: the lines of its log, with the step they belong to.
#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "analysis/analysis.h"
#include "analysis/key_columns.h"
#include "analysis/recording/recorded_steps.h"
#include "analysis/registry.h"
#include "analysis/view.h"
#include "trace/process_record.h"

namespace stepscope::analysis {
namespace {

using base::Nanos;
using base::Type;
using base::Unit;
using trace::LogEntry;

constexpr std::array<std::string_view, 5> kLevels = {"debug", "info", "warning", "error",
                                                     "critical"};
constexpr std::array kLogParameters = std::to_array<Parameter>({
    {"level", ParameterType::kChoice, "debug", "lines of this level and above", kLevels},
    {"top", ParameterType::kCount, "20", "lines per rank, the first. 0: all"},
});

constexpr base::ColumnShape kLevel{"level", Type::kText, Unit::kNone, "warning, error, …"};
constexpr std::array kLevelColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    kLevel,
    {"lines", Type::kInt, Unit::kCount, "of this level"},
    {"first_step", Type::kInt, Unit::kId, "step of the first of them; null: before any"},
    {"last_step", Type::kInt, Unit::kId, "step of the last"},
    {"first_ns", Type::kInt, Unit::kInstant, "when the first came, since the recording began"},
});
constexpr std::array kLineColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    {"step", Type::kInt, Unit::kId, "that was running; null: before the first"},
    {"time_ns", Type::kInt, Unit::kInstant, "since the first recording of the run began"},
    kLevel,
    {"logger", Type::kText, Unit::kNone, "who said it"},
    {"text", Type::kText, Unit::kNone, "what it said; of several lines the first"},
    {"process", Type::kInt, Unit::kId, "of which process"},
    {"thread", Type::kText, Unit::kNone, "on which thread"},
    {"rest", Type::kText, Unit::kNone, "the lines after the first, such as a traceback"},
    {"utc", Type::kText, Unit::kNone, "when it came, by the clock on the wall, in UTC"},
    {"thread_id", Type::kInt, Unit::kId, "of that thread, as the system numbers it"},
});
constexpr std::array<std::string_view, 1> kLogLines = {"lines"};
constexpr std::array kLogTables = std::to_array<base::TableShape>({
    {"levels",
     "lines of one level on one rank, the worst level first",
     kLevelColumns,
     {base::Chart::kBars, "level", kLogLines, "rank"}},
    {"lines", "one line of the log, the first first", kLineColumns},
});

struct LogLine {
  Nanos time;
  std::int64_t step;  // -1: before the first
  const LogEntry* entry;
  const trace::ProcessRecord* by;
};

// A process that the training started knows no steps, or only the one it was forked in: its rank's
// recording does. Null: there is none.
const WindowView* steps_for(const RunView& view, const WindowView& recording) {
  if (!recording.trace->header().process_record->is_worker) return nullptr;
  const auto found = std::ranges::find_if(view.recordings, [&](const WindowView& other) {
    return other.rank == recording.rank && other.has_steps && !other.steps.empty() &&
           !other.trace->header().process_record->is_worker;
  });
  return found == view.recordings.end() ? nullptr : &*found;
}

// As the recorder counts: the one that had not ended yet.
std::int64_t step_under_way(const WindowView& training, Nanos time) {
  const std::vector<StepTime>& steps = training.steps;
  if (time < steps.front().host.start) return -1;
  const auto next =
      std::ranges::upper_bound(steps, time, {}, [](const StepTime& step) { return step.host.end; });
  return next == steps.end() ? steps.back().number + 1 : next->number;
}

// Of every process of a rank, by time.
std::map<std::int32_t, std::vector<LogLine>> lines_by_rank(const RunView& view) {
  const Nanos zero = recording_start(view);
  std::map<std::int32_t, std::vector<LogLine>> ranks;
  for (const WindowView& recording : view.recordings) {
    const trace::Trace& trace = *recording.trace;
    const Nanos shift = trace.clock().zero_unix_ns() - zero;
    std::vector<LogLine>& lines = ranks[recording.rank];
    const trace::ProcessRecord& record = *trace.header().process_record;
    const WindowView* const training = steps_for(view, recording);
    for (const LogEntry& entry : record.log) {
      if (!recording.counts_at(entry.time)) continue;
      const Nanos time = entry.time + shift;
      const std::int64_t step =
          training == nullptr
              ? entry.step
              : step_under_way(*training, time + zero - training->trace->clock().zero_unix_ns());
      lines.push_back({time, step, &entry, &record});
    }
  }
  for (auto& [rank, lines] : ranks) std::ranges::stable_sort(lines, {}, &LogLine::time);
  return ranks;
}

// "2026-10-01T12:17:06.123456Z".
std::string utc_text(Nanos unix_ns) {
  namespace chrono = std::chrono;
  const chrono::sys_time<chrono::nanoseconds> time{chrono::nanoseconds(unix_ns)};
  const auto day = chrono::floor<chrono::days>(time);
  const chrono::year_month_day date(day);
  const chrono::hh_mm_ss clock(chrono::floor<chrono::microseconds>(time - day));
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count(),
                     clock.subseconds().count());
}

base::Cell step_cell(const LogLine& line) {
  return line.step < 0 ? base::Cell(base::Null{}) : base::Cell(line.step);
}

void add_levels(base::Table& table, std::int32_t rank, const std::vector<LogLine>& lines) {
  struct Level {
    std::uint64_t count = 0;
    const LogLine *first = nullptr, *last = nullptr;
  };
  std::map<std::int32_t, Level, std::greater<>> levels;
  for (const LogLine& line : lines) {
    Level& level = levels[line.entry->level];
    if (level.count++ == 0) level.first = &line;
    level.last = &line;
  }
  for (const auto& [number, level] : levels) {
    table.add({rank, trace::level_name(number), level.count, step_cell(*level.first),
               step_cell(*level.last), level.first->time});
  }
}

// How many lines were left out.
std::size_t add_log_lines(base::Table& table, std::int32_t rank, const std::vector<LogLine>& lines,
                          std::int32_t least, std::size_t top, Nanos zero) {
  std::size_t shown = 0;
  std::size_t left_out = 0;
  for (const LogLine& line : lines) {
    const LogEntry& entry = *line.entry;
    if (entry.level < least) continue;
    if (top > 0 && shown == top) {
      ++left_out;
      continue;
    }
    ++shown;
    const std::string_view text = entry.text;
    const std::size_t first = std::min(text.find('\n'), text.size());
    table.add({rank, step_cell(line), line.time, trace::level_name(entry.level), entry.logger,
               text.substr(0, first), line.by->pid, entry.thread,
               first == text.size() ? base::Cell(base::Null{}) : base::Cell(text.substr(first + 1)),
               utc_text(zero + line.time),
               entry.thread_id < 0 ? base::Cell(base::Null{}) : base::Cell(entry.thread_id)});
  }
  return left_out;
}

Answer run_log(const RunView& view, const Options& options) {
  const std::string_view wanted = options.text("level");
  const auto least =
      static_cast<std::int32_t>(10 * (1 + std::ranges::find(kLevels, wanted) - kLevels.begin()));
  Answer answer;
  base::Table levels(kLogTables[0]);
  base::Table lines(kLogTables[1]);
  std::size_t all = 0;
  std::size_t left_out = 0;
  for (const auto& [rank, list] : lines_by_rank(view)) {
    add_levels(levels, rank, list);
    left_out = std::max(left_out, add_log_lines(lines, rank, list, least,
                                                static_cast<std::size_t>(options.count("top")),
                                                recording_start(view)));
    all += list.size();
  }
  if (all == 0) {
    answer.remarks.emplace_back("No log lines were recorded.");
  } else if (lines.rows() == 0) {
    answer.remarks.push_back(Remark::on_table(
        "lines", fmt::format("None of the {} lines is of level {} or above; --level debug lists "
                             "them all.",
                             all, wanted)));
  }
  if (left_out > 0) {
    answer.remarks.push_back(Remark::on_limit(
        fmt::format("--top left out up to {} lines of a rank; --top 0 lists all.", left_out)));
  }
  answer.tables.push_back(std::move(levels));
  answer.tables.push_back(std::move(lines));
  return answer;
}

}  // namespace

const Analysis kLog{
    .name = "log",
    .title = "Log lines",
    .question = "What did the run say, and in which step?",
    .parameters = kLogParameters,
    .tables = kLogTables,
    .run = run_log,
    .needs = Needs::kRecording,
};

}  // namespace stepscope::analysis
