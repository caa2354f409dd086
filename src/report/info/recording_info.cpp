// What processes recorded of themselves, as text and JSON.
#include "report/info/recording_info.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "report/info/info_facts.h"
#include "report/info/info_parts.h"
#include "report/info/rank_records.h"
#include "report/writing/numbers.h"
#include "report/writing/text_width.h"
#include "trace/process_record.h"

namespace stepscope::report {
namespace {

constexpr std::int32_t kWarning = 30;
constexpr std::int32_t kError = 40;

void append_part(std::string& text, std::string_view part) {
  if (part.empty()) return;
  if (!text.empty()) text += " · ";
  text += part;
}

// Names of ranges, and of counters.
void add_names(const trace::Trace& trace, RecordingInfo& info) {
  std::set<base::StringId> ranges;
  std::set<base::StringId> counters;
  std::vector<char> is_step(trace.size());
  for (const trace::Step& step : trace.steps().list) {
    if (step.row != trace::kNoRow) is_step[step.row] = 1;
  }
  for (trace::Row row = 0; row < trace.size(); ++row) {
    if (trace.phase()[row] == trace::Phase::kCounter) counters.insert(trace.name()[row]);
    if (trace.phase()[row] == trace::Phase::kSpan && is_step[row] == 0) {
      ranges.insert(trace.name()[row]);
    }
  }
  for (const base::StringId id : ranges) info.range_names.emplace(trace.text(id));
  for (const base::StringId id : counters) info.counters.emplace_back(trace.text(id));
  std::ranges::sort(info.counters);
}

// The sums over all processes, as one.
RecordingInfo sum_of(const RunInfo& info) {
  RecordingInfo sum;
  std::set<std::string> counters;
  for (const RecordingInfo& one : info.recordings) {
    sum.ranges += one.ranges;
    sum.range_names.insert(one.range_names.begin(), one.range_names.end());
    sum.open_ranges += one.open_ranges;
    sum.instants += one.instants;
    if (!one.is_worker) sum.steps.add(one.steps);
    sum.log_lines += one.log_lines;
    sum.warnings += one.warnings;
    sum.errors += one.errors;
    sum.counter_values += one.counter_values;
    counters.insert(one.counters.begin(), one.counters.end());
    sum.length_ns += one.length_ns;
    sum.dropped += one.dropped;
    sum.lost_steps += one.lost_steps;
    sum.refused_bytes += one.refused_bytes;
    sum.clock_set_ns = std::max(sum.clock_set_ns, one.clock_set_ns);
    sum.records += one.records;
    sum.file_bytes += one.file_bytes;
    sum.writer_ns += one.writer_ns;
  }
  sum.counters.assign(counters.begin(), counters.end());
  return sum;
}

std::string processes_text(const RunInfo& info) {
  const auto workers = static_cast<std::uint64_t>(
      std::ranges::count(info.recordings, true, &RecordingInfo::is_worker));
  const std::uint64_t others = info.recordings.size() - workers;
  std::string text = others == 1 ? "1 process" : fmt::format("{} processes", count_text(others));
  if (workers > 0) {
    append_part(text, workers == 1 ? "1 worker process"
                                   : fmt::format("{} worker processes", count_text(workers)));
  }
  return text;
}

std::string ranges_text(const RecordingInfo& sum) {
  std::string text = counted(sum.ranges, "range");
  if (sum.ranges > 0) text += fmt::format(" of {}", counted(sum.range_names.size(), "name"));
  if (sum.open_ranges > 0) {
    append_part(text, fmt::format("{} still open at the end", count_text(sum.open_ranges)));
  }
  if (sum.instants > 0) append_part(text, counted(sum.instants, "instant"));
  return text;
}

std::string recorded_steps_text(const StepInfo& steps, std::size_t trainers) {
  if (steps.count == 0 || steps.source == trace::StepSource::kWhole) {
    return "none were marked";
  }
  std::string text = count_text(steps.count);
  if (trainers > 1) text += " on all ranks";
  append_part(text, steps.first == steps.last ? fmt::format("number {}", steps.first)
                                              : fmt::format("{} to {}", steps.first, steps.last));
  append_part(text, fmt::format("mean {}", duration_text(steps.mean_ns())));
  append_part(text, fmt::format("{} to {}", duration_text(steps.shortest_ns),
                                duration_text(steps.longest_ns)));
  return text;
}

std::string log_text(const RecordingInfo& sum) {
  std::string text = counted(sum.log_lines, "line");
  if (sum.warnings > 0) append_part(text, counted(sum.warnings, "warning"));
  if (sum.errors > 0) append_part(text, counted(sum.errors, "error"));
  return text;
}

// Of those that the recorder puts there itself.
bool is_own_counter(std::string_view name) {
  return name.starts_with("loader ") || name.starts_with("process ") || name.starts_with("cuda:") ||
         name.starts_with("xpu:");
}

std::string counters_text(RecordingInfo sum) {
  constexpr std::size_t kShown = 4, kLongestName = 60;
  std::ranges::stable_partition(sum.counters,
                                [](const std::string& name) { return !is_own_counter(name); });
  std::string text = fmt::format("{} of {}: ", counted(sum.counter_values, "value"),
                                 counted(sum.counters.size(), "counter"));
  for (std::size_t i = 0; i < std::min(kShown, sum.counters.size()); ++i) {
    text += (i > 0 ? ", " : "") + cut_middle(printable(sum.counters[i]), kLongestName);
  }
  if (sum.counters.size() > kShown) {
    text += fmt::format(" and {} more", sum.counters.size() - kShown);
  }
  return text;
}

// What is in the trace of each window, as the recording numbers its steps.
std::string windows_text(const RunInfo& info) {
  constexpr std::size_t kShown = 4;
  std::string text;
  for (std::size_t i = 0; i < std::min(kShown, info.windows.size()); ++i) {
    const WindowInfo& window = info.windows[i];
    std::string one = info.ranks > 1 ? fmt::format("rank {}: ", window.rank) : std::string();
    if (window.steps.source == trace::StepSource::kWhole) {
      one += "a trace without steps";
    } else if (window.steps.count == 0) {
      one += "a trace without a whole step";
    } else if (window.steps.first == window.steps.last) {
      one += fmt::format("step {}", window.steps.first);
    } else {
      one += fmt::format("steps {} to {}", window.steps.first, window.steps.last);
    }
    append_part(text, one);
  }
  if (info.windows.size() > kShown) {
    append_part(text, fmt::format("{} more", info.windows.size() - kShown));
  }
  return text;
}

std::string lost_text(const RunInfo& info, const RecordingInfo& sum) {
  std::string text;
  if (sum.dropped > 0) {
    append_part(text, fmt::format("{} found no room", counted(sum.dropped, "record")));
  }
  if (sum.lost_steps > 0) {
    append_part(text,
                fmt::format("{} without a beginning or an end", counted(sum.lost_steps, "step")));
  }
  if (sum.refused_bytes > 0) {
    append_part(text, fmt::format("{} that the disk refused", bytes_text(sum.refused_bytes)));
  }
  const auto unfinished = static_cast<std::uint64_t>(
      std::ranges::count(info.recordings, false, &RecordingInfo::finished));
  if (unfinished > 0) {
    append_part(text,
                fmt::format("{} not finished: killed, or still running: up to half a second may "
                            "be missing; or its disk was full: all since then is",
                            counted(unfinished, "recording")));
  }
  if (sum.clock_set_ns > 0) {
    append_part(text, fmt::format("the wall clock was set by {} meanwhile, and not followed",
                                  duration_text(sum.clock_set_ns)));
  }
  append_part(text, cut_windows_text(info));
  return text.empty() ? "nothing" : text;
}

std::string cost_text(const RunInfo& info, const RecordingInfo& sum) {
  std::string text = counted(sum.records, "record");
  append_part(text, bytes_text(sum.file_bytes));
  base::Nanos length = 0;
  for (const RecordingInfo& one : info.recordings) length += one.finished ? one.length_ns : 0;
  if (length > 0) {
    append_part(text, fmt::format("{} of processor time for writing: {} of the {} recorded",
                                  duration_text(sum.writer_ns),
                                  percent_text(static_cast<std::uint64_t>(sum.writer_ns),
                                               static_cast<std::uint64_t>(length)),
                                  duration_text(length)));
  }
  if (info.sampling_ns > 0) {
    append_part(text, fmt::format("{} for sampling the machine", duration_text(info.sampling_ns)));
  }
  append_part(text, window_cost_text(info));
  return text;
}

// Of a run folder without recordings: ranges and steps were left out, or their file is gone.
std::vector<NamedText> facts_of_ranks(const RunInfo& info) {
  std::string lost = cut_windows_text(info);
  const auto unfinished = static_cast<std::uint64_t>(
      std::ranges::count(info.rank_records, std::string(), &trace::RankRecord::finished));
  if (unfinished > 0) {
    append_part(lost, fmt::format("the window that was open when {} ended, if there was one",
                                  unfinished == 1 ? "the process" : "the processes"));
  }
  const std::string cost = window_cost_text(info);
  return {{"By", counted(info.rank_records.size(), "rank")},
          {"Ended", endings_text(info)},
          {"Lost", lost.empty() ? "nothing" : lost},
          {"Cost", cost.empty() ? "nothing was measured" : cost}};
}

std::vector<NamedText> facts_of_recordings(const RunInfo& info) {
  const RecordingInfo sum = sum_of(info);
  const auto trainers = static_cast<std::size_t>(
      std::ranges::count(info.recordings, false, &RecordingInfo::is_worker));
  std::vector<NamedText> facts = {{"By", processes_text(info)}, {"Ranges", ranges_text(sum)}};
  facts.push_back({"Steps", recorded_steps_text(sum.steps, trainers)});
  facts.push_back({"Log", log_text(sum)});
  if (sum.counter_values > 0) facts.push_back({"Counters", counters_text(sum)});
  if (!info.stood_in && !lists_windows(info)) facts.push_back({"Traced", windows_text(info)});
  if (std::string lines = lines_text(info); !lines.empty()) facts.push_back({"Lines", lines});
  if (!info.rank_records.empty()) facts.push_back({"Ended", endings_text(info)});
  facts.push_back({"Lost", lost_text(info, sum)});
  facts.push_back({"Cost", cost_text(info, sum)});
  return facts;
}

}  // namespace

RecordingInfo recording_info(std::int32_t rank, const trace::Window& window) {
  const trace::Trace& trace = window.trace;
  const trace::ProcessRecord& record = *trace.header().process_record;
  RecordingInfo info{.rank = rank,
                     .path = window.source.path,
                     .encoding = window.source.encoding,
                     .file_bytes = window.source.file_bytes,
                     .is_worker = record.is_worker,
                     .ranges = record.ranges,
                     .open_ranges = record.open_ranges,
                     .instants = record.instants,
                     .log_lines = record.log.size(),
                     .counter_values = record.counter_values,
                     .start_unix_ns = trace.clock().zero_unix_ns(),
                     .length_ns = record.length,
                     .finished = record.cost.has_value(),
                     .dropped = record.dropped,
                     .lost_steps = record.lost_steps,
                     .clock_set_ns = record.clock_set};
  if (trace.steps().source != trace::StepSource::kWhole) info.steps = step_info(trace.steps());
  for (const trace::LogEntry& line : record.log) {
    if (line.level >= kError) {
      ++info.errors;
    } else if (line.level >= kWarning) {
      ++info.warnings;
    }
  }
  if (record.cost) {
    info.refused_bytes = record.cost->lost_bytes;
    info.writer_ns = record.cost->writer_ns;
  }
  // A killed process could not say how many it wrote; a range is two.
  info.records = record.cost ? record.cost->records
                             : 2 * record.ranges - record.open_ranges + record.instants +
                                   record.steps + record.counter_values;
  add_names(trace, info);
  return info;
}

std::string recordings_text(const RunInfo& info, const Look& look, bool all) {
  if (info.recordings.empty() && info.rank_records.empty()) return {};
  const std::vector<NamedText> facts =
      info.recordings.empty() ? facts_of_ranks(info) : facts_of_recordings(info);
  return fmt::format("\n{}\n{}{}{}", styled("Recorded by stepscope", Style::kStrong, look),
                     facts_text(facts, look), windows_table(info, look, all),
                     warnings_list(info, look, all));
}

void write_recordings(JsonWriter& json, const RunInfo& info) {
  json.begin_list();
  for (const RecordingInfo& one : info.recordings) {
    json.begin_object();
    json.member("rank", one.rank);
    json.member("path", one.path);
    json.member("encoding", one.encoding);
    json.member("file_bytes", one.file_bytes);
    json.member("worker", one.is_worker);
    json.member("start_unix_ns", one.start_unix_ns);
    json.member("length_ns", one.length_ns);
    json.member("ranges", one.ranges);
    json.member("range_names", one.range_names.size());
    json.member("open_ranges", one.open_ranges);
    json.member("instants", one.instants);
    json.member("steps", one.steps.count);
    json.member("log_lines", one.log_lines);
    json.member("warnings", one.warnings);
    json.member("errors", one.errors);
    json.member("counter_values", one.counter_values);
    json.key("counters");
    json.begin_list();
    for (const std::string& name : one.counters) json.value(name);
    json.end_list();
    json.member("finished", one.finished);
    json.member("dropped_records", one.dropped);
    json.member("lost_steps", one.lost_steps);
    json.member("refused_bytes", one.refused_bytes);
    json.member("clock_set_ns", one.clock_set_ns);
    json.member("records", one.records);
    json.key("writer_cpu_ns");
    one.finished ? json.value(one.writer_ns) : json.null();
    json.end_object();
  }
  json.end_list();
}

}  // namespace stepscope::report
