// Takes samples of the quantities that limits are about from a run.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "analysis/analysis.h"
#include "analysis/compare/series.h"
#include "analysis/compare/step_samples.h"
#include "base/nearest_word.h"
#include "base/table_line.h"
#include "session/compare/compare.h"
#include "session/program/program_run.h"

namespace stepscope::session {
namespace {

using analysis::Aggregate;
using analysis::Answer;
using analysis::ColumnSource;
using analysis::RunSamples;
using analysis::Sample;
using base::Code;
using base::fail;
using base::TableLine;

// Step by step, of the rank that has most: a rank that is late has little of it, and those that
// wait for it have much.
void add_exposed(RunSamples& out, const Answer& steps) {
  const base::Table* table = table_of(steps, "steps");
  std::map<std::int64_t, Sample> ranks;
  for (std::size_t r = 0; table != nullptr && r < table->rows(); ++r) {
    const TableLine line(*table, r);
    const double step = line.number("step_ns");
    Sample& exposed = ranks[line.whole("rank")];
    exposed.per_step = true;
    exposed.values.push_back(step > 0 ? line.number("communication_ns") / step : 0);
  }
  if (ranks.empty()) return;
  const auto typical = [](const auto& rank) {
    return analysis::estimate(rank.second.values, analysis::Average::kTypical).value;
  };
  const auto most = std::ranges::max_element(ranks, {}, typical);
  if (ranks.size() > 1 && typical(*most) > 0) most->second.rank = most->first;
  out.samples[std::string(analysis::sample::kExposedCommunication)] = std::move(most->second);
}

void add_run_samples_memory(RunSamples& out, const Answer& overview) {
  const base::Table* table = table_of(overview, "devices");
  double peak = -1;
  for (std::size_t r = 0; table != nullptr && r < table->rows(); ++r) {
    const TableLine line(*table, r);
    if (line.has_value("peak_allocated_bytes"))
      peak = std::max(peak, line.number("peak_allocated_bytes"));
  }
  if (peak >= 0) out.samples[std::string(analysis::sample::kPeakMemory)] = {.values = {peak}};
}

std::string cell_words(const base::Table& table, std::size_t column, std::size_t row) {
  if (table.is_null(column, row)) return {};
  switch (table.shape().columns[column].type) {
    case base::Type::kText:
      return std::string(table.text_at(column, row));
    case base::Type::kBool:
      return table.int_at(column, row) != 0 ? "true" : "false";
    case base::Type::kReal:
      return fmt::format("{}", table.real_at(column, row));
    default:
      return fmt::format("{}", table.int_at(column, row));
  }
}

double combined(const std::vector<double>& values, Aggregate aggregate) {
  double sum = 0;
  for (const double value : values) sum += value;
  switch (aggregate) {
    case Aggregate::kMax:
      return *std::ranges::max_element(values);
    case Aggregate::kMin:
      return *std::ranges::min_element(values);
    case Aggregate::kMean:
      return sum / static_cast<double>(values.size());
    case Aggregate::kOnly:
    case Aggregate::kSum:
      break;
  }
  return sum;
}

// One value per step where the table has steps, else one.
base::Result<Sample> column_sample(const Answer& answer, const ColumnSource& source) {
  const base::Table& table = *table_of(answer, source.table);
  const std::size_t column = *table.find(source.column);
  const auto step = table.find("step");
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<double>> groups;
  for (std::size_t r = 0; r < table.rows(); ++r) {
    const bool chosen = std::ranges::all_of(source.where, [&](const auto& wanted) {
      return cell_words(table, *table.find(wanted.first), r) == wanted.second;
    });
    if (!chosen || table.is_null(column, r)) continue;
    if (step && table.is_null(*step, r)) continue;  // a row about all steps
    const TableLine line(table, r);
    const std::pair key(line.whole("window"), step ? table.int_at(*step, r) : 0);
    groups[step ? key : std::pair<std::int64_t, std::int64_t>()].push_back(
        table.real_at(column, r));
  }
  Sample out{.values = {}, .per_step = step.has_value()};
  for (const auto& [key, values] : groups) {
    if (values.size() > 1 && source.aggregate == Aggregate::kOnly) {
      return fail(Code::kInvalidArgument,
                  fmt::format("{}.{}.{}: {} rows match{}; choose one with 'where', or say "
                              "'aggregate: sum', mean, max or min",
                              source.analysis, source.table, source.column, values.size(),
                              step ? " in a step" : ""));
    }
    out.values.push_back(combined(values, source.aggregate));
  }
  return out;
}

// The chosen steps by number, those without windows where the analysis is about such.
std::vector<std::int64_t> numbers_of(const SteadyStateStudy& steady, bool of_recording) {
  if (of_recording) return steady.untraced.numbers;
  std::set<std::int64_t> numbers;
  for (const analysis::WindowView& window : steady.study.view().windows) {
    for (const analysis::StepTime& step : window.steps) {
      if (step.selected) numbers.insert(step.number);
    }
  }
  return {numbers.begin(), numbers.end()};
}

// Every question is asked anew for each step: of many steps so many, evenly spread.
std::vector<std::int64_t> spread_evenly(const std::vector<std::int64_t>& numbers) {
  constexpr std::size_t kMost = 60;
  if (numbers.size() <= kMost) return numbers;
  std::vector<std::int64_t> out;
  out.reserve(kMost);
  for (std::size_t i = 0; i < kMost; ++i) out.push_back(numbers[i * numbers.size() / kMost]);
  return out;
}

// The figure of each step alone. In a step without such rows a sum is 0, and nothing else is known.
base::Result<Sample> sample_by_step(const std::vector<Answer>& steps, const ColumnSource& source) {
  Sample out{.values = {}, .per_step = true};
  for (const Answer& step : steps) {
    SCOPE_TRY(const Sample one, column_sample(step, source));
    if (!one.values.empty()) {
      out.values.push_back(one.values.front());
    } else if (source.aggregate == Aggregate::kSum) {
      out.values.push_back(0);
    }
  }
  const bool nowhere = std::ranges::all_of(out.values, [](double value) { return value == 0; });
  if (nowhere) out.values.clear();
  return out;
}

// All names, where the analysis lists only some by default.
std::map<std::string, std::string> all_rows(const analysis::Analysis& about) {
  const bool has_top = std::ranges::find(about.parameters, "top", &analysis::Parameter::name) !=
                       about.parameters.end();
  return has_top ? std::map<std::string, std::string>{{"top", "0"}}
                 : std::map<std::string, std::string>{};
}

// Answered by what processes and machines recorded all along, not by traces.
bool is_of_recording(const analysis::Analysis& about) {
  return about.needs == analysis::Needs::kRecording || about.needs == analysis::Needs::kSystem;
}

}  // namespace

RunSamples samples_of_steps(std::string_view name, std::span<const double> steps_ns) {
  const std::size_t warmup = analysis::warmup_steps(steps_ns);
  const std::span<const double> settled = steps_ns.subspan(warmup);
  RunSamples out{.name = std::string(name), .warmup = warmup, .samples = {}};
  out.samples[std::string(analysis::sample::kStepTime)] = {
      .values = {settled.begin(), settled.end()}, .per_step = true};
  return out;
}

base::Result<RunSamples> samples_of(const OpenedRun& recording, std::string_view name,
                                    const analysis::Selection& selection,
                                    const analysis::GateRules& rules, unsigned threads) {
  SCOPE_TRY(const SteadyStateStudy steady, steady_state(recording, selection, threads));
  RunSamples out{.name = std::string(name), .warmup = steady.warmup, .samples = {}};
  SCOPE_TRY(const Answer steps, steady.study.ask("steps"));
  SCOPE_TRY(const Answer overview, steady.study.ask("overview"));
  if (steady.marks_steps) {
    analysis::add_step_times({&steps, &steady.untraced, steady.is_traced}, out);
    if (steady.is_traced) add_exposed(out, steps);
  }
  add_run_samples_memory(out, overview);
  out.bad_end = bad_end_of(recording, selection);
  std::map<std::string, Answer> answers;
  std::map<std::string, std::vector<Answer>> by_step;
  std::optional<Study> untraced;
  for (const analysis::GateLimit& limit : rules.limits) {
    if (!limit.column) continue;
    const std::string& asked = limit.column->analysis;
    const analysis::Analysis& about = *analysis::find_analysis(asked);
    const bool of_recording = is_of_recording(about) && !steady.untraced.numbers.empty();
    if (limit.column->per_step && !limit.column->has_steps) {
      if (!steady.marks_steps) continue;
      if (!by_step.contains(asked)) {
        std::vector<Answer>& list = by_step[asked];
        for (const std::int64_t number : spread_evenly(numbers_of(steady, of_recording))) {
          analysis::Selection one = selection;
          one.steps = {number};
          SCOPE_TRY(const Study study, Study::prepare(recording, one, threads));
          SCOPE_TRY(Answer answer, study.ask(asked, all_rows(about)));
          list.push_back(std::move(answer));
        }
      }
      SCOPE_TRY(Sample sample, sample_by_step(by_step.at(asked), *limit.column));
      if (!sample.values.empty()) out.samples[limit.sample] = std::move(sample);
      continue;
    }
    if (!answers.contains(asked)) {
      if (of_recording && !untraced) {
        analysis::Selection steps_without_windows = selection;
        steps_without_windows.steps = steady.untraced.numbers;
        SCOPE_TRY(untraced, Study::prepare(recording, steps_without_windows, threads));
      }
      SCOPE_TRY(Answer answer,
                (of_recording ? *untraced : steady.study).ask(asked, all_rows(about)));
      answers.emplace(asked, std::move(answer));
    }
    SCOPE_TRY(Sample sample, column_sample(answers.at(asked), *limit.column));
    if (!sample.values.empty()) out.samples[limit.sample] = std::move(sample);
  }
  return out;
}

}  // namespace stepscope::session
