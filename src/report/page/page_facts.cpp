// The lines at the top of the report about steps and GPUs.
#include "report/page/page_facts.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/table_line.h"
#include "report/tables/cell_text.h"
#include "report/writing/numbers.h"

namespace stepscope::report {

namespace {

using base::TableLine;

std::vector<TableLine> steps_fact_lines_of(const Answers& answers, std::string_view analysis,
                                           std::string_view name) {
  std::vector<TableLine> lines;
  const base::Table* const table = answers.table(analysis, name);
  for (std::size_t row = 0; table != nullptr && row < table->rows(); ++row) {
    lines.emplace_back(*table, row);
  }
  return lines;
}

std::vector<TableLine> training(const Answers& answers, std::string_view table) {
  std::vector<TableLine> lines = steps_fact_lines_of(answers, "throughput", table);
  std::erase_if(lines, [](const TableLine& line) { return line.text("phase") != "training"; });
  return lines;
}

base::Nanos step_of(double per_second) {
  return static_cast<base::Nanos>(std::llround(1e9 / per_second));
}

std::string steps_fact_step_text(double per_second) { return duration_text(step_of(per_second)); }

// Steps that were recorded, and of them traced, on the rank that has most; and on the one that has
// fewest.
struct Recorded {
  std::int64_t steps = 0, fewest = 0, traced = 0;
  bool slowed = false;  // by tracing, on some rank
};

// As the report says it: where steps differ among themselves by more, nothing is known.
bool slowed_by_tracing(const TableLine& line) {
  if (line.has_value("tracing_low_ns")) return line.number("tracing_low_ns") > 0;
  return line.has_value("untraced_median_ns") &&
         line.whole("traced_median_ns") > line.whole("untraced_median_ns");
}

Recorded recorded(const Answers& answers) {
  Recorded out;
  for (const TableLine& line : steps_fact_lines_of(answers, "time", "times")) {
    out.fewest = out.steps == 0 ? line.whole("steps") : std::min(out.fewest, line.whole("steps"));
    out.steps = std::max(out.steps, line.whole("steps"));
    out.traced = std::max(out.traced, line.whole("traced_steps"));
    out.slowed |= slowed_by_tracing(line);
  }
  return out;
}

// Each step once: traced ones of the warm-up are those.
std::string left_out_text(std::int64_t warm_up, std::int64_t warm_up_traced, std::int64_t traced) {
  std::string text;
  if (warm_up > 0)
    text += fmt::format("{} of warm-up", count_text(static_cast<std::uint64_t>(warm_up)));
  if (warm_up_traced > 0) {
    text +=
        fmt::format(" ({} of them traced)", count_text(static_cast<std::uint64_t>(warm_up_traced)));
  }
  if (traced > 0) {
    text +=
        fmt::format("{}{} that {} traced", text.empty() ? "" : " and ",
                    count_text(static_cast<std::uint64_t>(traced)), traced == 1 ? "was" : "were");
  }
  return text.empty() ? text : ", without " + text;
}

// Of the rank that saved most: others may have waited for it elsewhere.
std::string saves_text(const Answers& answers) {
  std::int64_t saves = 0;
  base::Nanos time = 0;
  for (const TableLine& line : steps_fact_lines_of(answers, "throughput", "saves")) {
    if (line.whole("save_ns") <= time) continue;
    saves = line.whole("saves");
    time = line.whole("save_ns");
  }
  if (saves == 0) return {};
  return fmt::format("; {} took {} beside them",
                     counted(static_cast<std::uint64_t>(saves), "checkpoint"), duration_text(time));
}

std::string rates_text(double steps, const TableLine& samples) {
  std::string text = fmt::format("{} /s", number_text(steps));
  if (samples.has_value("samples_per_second")) {
    text += fmt::format(", {} samples/s", number_text(samples.number("samples_per_second")));
  }
  return text;
}

}  // namespace

std::optional<FirstStep> first_step(const Answers& answers) {
  if (!recorded_step_count(answers).empty()) {
    const auto of_all =
        training(answers, training(answers, "phases").size() == 1 ? "phases" : "job");
    return FirstStep{.mean_ns = step_of(of_all.front().number("iterations_per_second")),
                     .is_recorded = true};
  }
  double longest = 0;
  for (const TableLine& line : steps_fact_lines_of(answers, "steps", "times")) {
    longest = std::max(longest, line.number("mean_ns"));
  }
  if (!(longest > 0)) return std::nullopt;
  return FirstStep{.mean_ns = static_cast<base::Nanos>(longest), .is_recorded = false};
}

std::string recorded_step_count(const Answers& answers) {
  const std::vector<TableLine> ranks = training(answers, "phases");
  const Recorded all = recorded(answers);
  if (ranks.empty() || all.steps == 0) return {};
  std::string text = count_text(static_cast<std::uint64_t>(all.steps));
  if (ranks.size() == 1) return text;
  if (training(answers, "job").empty()) return {};
  if (all.fewest == all.steps) return fmt::format("{} on each of {} ranks", text, ranks.size());
  // One was killed, or they stopped one after the other.
  return fmt::format("{} to {} on {} ranks", count_text(static_cast<std::uint64_t>(all.fewest)),
                     text, ranks.size());
}

std::string recorded_steps_fact(const Answers& answers) {
  std::string text = recorded_step_count(answers);
  if (text.empty()) return {};
  if (answers.chosen_steps) text += " chosen";
  const std::vector<TableLine> ranks = training(answers, "phases");
  const Recorded all = recorded(answers);
  std::int64_t warm_up = 0;
  std::int64_t warm_up_traced = 0;
  std::int64_t traced = 0;  // and not of the warm-up
  bool differ = false;      // by rank
  for (const TableLine& line : ranks) {
    for (const char* column : {"warm_up", "warm_up_traced", "traced"}) {
      differ |= line.whole(column) != ranks.front().whole(column);
    }
    warm_up = std::max(warm_up, line.whole("warm_up"));
    warm_up_traced = std::max(warm_up_traced, line.whole("warm_up_traced"));
    traced = std::max(traced, line.whole("traced") - line.whole("warm_up_traced"));
  }
  const double rate = ranks.front().number("iterations_per_second");
  if (ranks.size() == 1) {
    text +=
        fmt::format(" · mean {} ({})", steps_fact_step_text(rate), rates_text(rate, ranks.front()));
  } else {
    const std::vector<TableLine> job = training(answers, "job");
    const double mean = job.front().number("iterations_per_second");
    text += fmt::format(" · mean {} ({} of all ranks; {} on the slowest, {})",
                        steps_fact_step_text(mean), rates_text(mean, job.front()),
                        steps_fact_step_text(job.front().number("slowest_per_second")),
                        job.front().whole("slowest_rank"));
  }
  if (all.traced == all.steps)
    return text + (all.steps == 1 ? ", traced" : ", all of them traced") +
           (all.steps == 1 ? ", which may slow it" : ", which may slow them") + saves_text(answers);
  if (differ) return text + ", without warm-up and traced steps" + saves_text(answers);
  return text + left_out_text(warm_up, warm_up_traced, traced) + saves_text(answers);
}

std::string tracing_cost_fact(const Answers& answers) {
  for (const TableLine& line : steps_fact_lines_of(answers, "time", "times")) {
    if (!line.has_value("traced_median_ns") || !line.has_value("untraced_median_ns")) continue;
    return fmt::format("{}from step() to step() the median is {} traced, {} not",
                       slowed_by_tracing(line) ? "tracing slows them: " : "",
                       duration_text(line.whole("traced_median_ns")),
                       duration_text(line.whole("untraced_median_ns")));
  }
  return {};
}

std::string traced_mark(const Answers& answers) {
  const Recorded all = recorded(answers);
  if (answers.info.stood_in || all.traced == 0 || all.traced >= all.steps) return {};
  std::string text = counted(static_cast<std::uint64_t>(all.traced), "traced step");
  if (all.slowed) text += fmt::format("; tracing slows {}", all.traced == 1 ? "it" : "them");
  return text;
}

namespace {

bool is_sampled(const Answers& answers) { return answers.find("system") != nullptr; }

bool saw_gpus(const Answers& answers) {
  const base::Table* const gpus = answers.table("system", "gpus");
  return gpus != nullptr && gpus->rows() > 0;
}

// PyTorch's own figures of a device's memory, which a recording holds as counters.
bool counted_gpu(const RunInfo& info) {
  return std::ranges::any_of(info.recordings, [](const RecordingInfo& one) {
    return std::ranges::any_of(one.counters, [](std::string_view name) {
      return name.starts_with("cuda:") || name.starts_with("xpu:");
    });
  });
}

}  // namespace

bool worked_without_gpu(const Answers& answers) {
  if (saw_gpus(answers) || counted_gpu(answers.info)) return false;
  if (answers.info.stood_in) return is_sampled(answers);
  const std::optional<NoDeviceCause> cause = cause_of_no_device_work(answers.info);
  return cause == NoDeviceCause::kNoDevice || cause == NoDeviceCause::kHostOnly;
}

std::string no_gpu_fact(const Answers& answers) {
  if (answers.info.stood_in) return "none was seen on the machine";
  if (cause_of_no_device_work(answers.info) == NoDeviceCause::kNoDevice) {
    return "none: the process saw no GPU";
  }
  if (is_sampled(answers)) return "none was seen: no GPU work in the trace, no GPU on the machine";
  return "no work of one in the trace: it was recorded on the host alone, or without the GPU "
         "activity";
}

}  // namespace stepscope::report
