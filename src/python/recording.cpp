// An opened run as Python holds it: analyses, pages, findings and comparisons.
#include "python/recording.h"

#include <utility>

#include <fmt/ranges.h>

#include "cli/command_line.h"
#include "report/compare/compare.h"
#include "report/findings/advice.h"
#include "report/info/info_text.h"
#include "report/page/page.h"
#include "report/writing/json_writer.h"
#include "session/compare/compare.h"
#include "session/compare/sweeping.h"
#include "session/files/run_folder.h"
#include "session/full_report.h"
#include "session/user_files/user_files.h"

namespace stepscope::python {
namespace {

report::Answers answers_of(const session::OpenedRun& recording, const PageChoice& choice,
                           const OpenedWith& with, session::ReportRequest asked = {}) {
  const analysis::Selection chosen{choice.ranks, choice.steps, with.peaks};
  for (const auto& [name, value] : choice.settings) {
    value_or_throw(session::check_setting(name, value));
  }
  asked.page = choice.memory ? &report::kMemoryPage : &report::kRunPage;
  asked.settings = choice.settings;
  if (!choice.memory) asked.paths = report::typed_again(with.paths);  // as the command does
  return value_or_throw(session::full_report(recording, chosen, asked, with.threads));
}

Answered answered(const analysis::Analysis* about, analysis::Answer answer) {
  Answered out{.about = about, .answer = std::move(answer), .tables = {}};
  for (base::Table& table : out.answer.tables) {
    out.tables.push_back(std::make_shared<const base::Table>(std::move(table)));
  }
  out.answer.tables.clear();
  return out;
}

std::string words_of(const OpenedWith& with) {
  return fmt::format("{}", fmt::join(with.paths, " "));
}

report::Page page_of(const report::Answers& answers, const PageChoice& choice,
                     const std::vector<std::string>& paths) {
  return choice.memory ? report::make_memory_page(answers, paths)
                       : report::make_page(answers, session::named_run(paths));
}

}  // namespace

std::shared_ptr<const session::Study> OpenRun::study(const std::vector<std::int32_t>& ranks,
                                                     const std::vector<std::int64_t>& steps) {
  const std::lock_guard lock(mutex_);
  if (last_study_ == nullptr || last_.ranks != ranks || last_.steps != steps) {
    const analysis::Selection chosen{ranks, steps, with_.peaks};
    last_study_ = std::make_shared<const session::Study>(
        value_or_throw(session::Study::prepare(recording_, chosen, with_.threads)));
    last_ = chosen;
  }
  return last_study_;
}

Compared OpenRun::diff(const OpenRun& other, const Chosen& own, const Chosen& others) const {
  const session::ComparedSide before{
      &recording_, {own.ranks, own.steps, with_.peaks}, words_of(with_)};
  const session::ComparedSide after{
      &other.recording_, {others.ranks, others.steps, other.with_.peaks}, words_of(other.with_)};
  analysis::Answer answer = value_or_throw(session::compare(before, after, with_.threads));
  Compared out{.answer = {}, .sentence = report::diff_sentence(answer)};
  out.answer = answered(&analysis::kDiff, std::move(answer));
  return out;
}

Answered OpenRun::ask(const std::string& analysis,
                      const std::map<std::string, std::string>& options,
                      const std::vector<std::int32_t>& ranks,
                      const std::vector<std::int64_t>& steps) {
  return answered(analysis::find_analysis(analysis),
                  value_or_throw(study(ranks, steps)->ask(analysis, options)));
}

std::string OpenRun::info_json() const {
  return report::info_json(session::summary_of(recording_), session::memory_of(recording_),
                           std::nullopt);
}

std::string OpenRun::loader_trial() {
  const analysis::LoaderTrial trial = session::loader_trial(*study({}, {}));
  report::JsonWriter json;
  json.begin_object();
  json.key("settings");
  json.begin_object();
  for (std::size_t i = 0; i < analysis::kLoaderSettings; ++i) {
    const auto setting = static_cast<analysis::LoaderSetting>(i);
    if (const auto value = trial.settings[setting]) {
      json.member(analysis::info_of(setting).name, *value);
    }
  }
  json.end_object();
  const auto write_number = [&](const std::optional<std::int64_t>& number) {
    if (number) {
      json.value(*number);
    } else {
      json.null();
    }
  };
  const auto write_blocks = [&](std::string_view name,
                                const std::vector<analysis::StepBlock>& blocks) {
    json.key(name);
    json.begin_list();
    for (const analysis::StepBlock& block : blocks) {
      json.begin_list();
      json.value(block.steps);
      json.value(block.loading_ns);
      json.value(block.training_ns);
      write_number(block.samples);
      json.end_list();
    }
    json.end_list();
  };
  write_blocks("blocks", trial.blocks);
  write_blocks("firsts", trial.firsts);
  json.key("length");
  write_number(trial.length);
  json.end_object();
  return std::move(json).finish();
}

std::string OpenRun::report_text(const PageChoice& choice, std::size_t width, bool colour) const {
  const report::Answers answers = answers_of(recording_, choice, with_);
  return report::page_text(page_of(answers, choice, with_.paths),
                           {.colour = colour, .width = width});
}

Advised OpenRun::advise(const PageChoice& choice, const std::string& thresholds) const {
  session::ReportRequest asked{.sections = false};
  if (!thresholds.empty()) asked.thresholds = value_or_throw(session::read_thresholds(thresholds));
  const report::Answers answers = answers_of(recording_, choice, with_, asked);
  return {std::make_shared<const base::Table>(report::findings_table(*answers.advice)),
          report::advice_json(*answers.advice)};
}

std::string OpenRun::report_html(const PageChoice& choice) const {
  const report::Answers answers = answers_of(recording_, choice, with_);
  return report::page_html(page_of(answers, choice, with_.paths), cli::version_line());
}

}  // namespace stepscope::python
