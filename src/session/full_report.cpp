// Asks all questions of a page, and summarises a run before any question.
#include "session/full_report.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "advice/advise.h"
#include "advice/finding.h"
#include "base/parallel.h"
#include "base/standard_input.h"
#include "report/info/notes.h"
#include "report/info/rank_records.h"
#include "session/analyze.h"
#include "session/session.h"

namespace stepscope::session {

namespace {

// Which training framework drove the run and what recorded it, so that advice speaks the language
// of both.

advice::Framework framework_of(const OpenedRun& recording);

advice::Recorder recorder_of(const OpenedRun& recording);

using advice::Framework;

// Lightning marks its own ranges; the others show only in Python's frames.
Framework framework_of(const trace::Trace& trace) {
  if (trace.steps().source == trace::StepSource::kLightning) return Framework::kLightning;
  for (const auto& [key, value] : trace.header().metadata) {
    if (key == "Framework" && value.find("lightning") != std::string::npos) {
      return Framework::kLightning;
    }
  }
  Framework found = Framework::kPyTorch;
  for (std::size_t id = 0; id < trace.strings().size(); ++id) {
    const std::string_view text = trace.text(static_cast<base::StringId>(id));
    if (text.starts_with("[pl]") || text.starts_with("[Strategy]") ||
        text.find("lightning/pytorch/trainer") != std::string_view::npos ||
        text.find("pytorch_lightning/trainer") != std::string_view::npos) {
      return Framework::kLightning;
    }
    if (text.find("transformers/trainer.py") != std::string_view::npos) {
      found = Framework::kHuggingFace;
    }
  }
  return found;
}

// What began a recording of ours: "profile", "run", "command" (by `stepscope run`, from within the
// program and from outside), "lightning", …; empty: another program, or a
// version of stepscope that did not write it.
std::string recorder_name(const OpenedRun& recording) {
  for (const trace::RankTraces& rank : recording.run.ranks) {
    for (const trace::Window& window : rank.windows) {
      for (const auto& [key, value] : window.trace.header().metadata) {
        if (key != "recorded_by") continue;
        std::string name = value;  // JSON
        std::erase(name, '"');
        return name;
      }
    }
  }
  return {};
}

Framework framework_of(const OpenedRun& recording) {
  const std::string recorder = recorder_name(recording);
  if (recorder == "lightning") return Framework::kLightning;
  if (recorder == "transformers") return Framework::kHuggingFace;
  for (const trace::RankTraces& rank : recording.run.ranks) {
    for (const trace::Window& window : rank.windows) {
      if (const Framework found = framework_of(window.trace); found != Framework::kPyTorch) {
        return found;
      }
    }
  }
  return Framework::kPyTorch;
}

advice::Recorder recorder_of(const OpenedRun& recording) {
  const std::string recorder = recorder_name(recording);
  if (recorder == "run" || recorder == "command") return advice::Recorder::kRunCommand;
  if (recorder == "profile" || (recorder.empty() && !recording.rank_records.empty())) {
    return advice::Recorder::kProfile;
  }
  return recorder.empty() ? advice::Recorder::kTorchProfiler : advice::Recorder::kCallback;
}

}  // namespace

namespace {

using analysis::Analysis;
using Settings = std::map<std::string, std::string>;

bool has_parameter(const Analysis& about, std::string_view name) {
  return std::ranges::find(about.parameters, name, &analysis::Parameter::name) !=
         about.parameters.end();
}

// What the page and its reader ask for that is not an analysis' own default.
Settings settings_for(const Analysis& about, const ReportRequest& request) {
  Settings settings;
  for (const report::Setting& setting : request.page->settings) {
    if (setting.analysis == about.name && has_parameter(about, setting.name)) {
      settings[std::string(setting.name)] = std::string(setting.value);
    }
  }
  for (const auto& [name, value] : request.settings) {
    if (has_parameter(about, name)) settings[name] = value;
  }
  return settings;
}

bool is_shown(const Analysis& about, const report::PageKind& page, std::size_t snapshots) {
  return std::ranges::any_of(page.sections, [&](const report::Section& section) {
    return std::ranges::any_of(section.parts, [&](const report::Part& part) {
      return part.analysis == about.name && (!part.several_snapshots || snapshots > 1);
    });
  });
}

// Where nothing was traced, what the processes recorded has a page of its own, and the questions
// about a trace would say the same again, or that there is no GPU work.
bool is_asked(const Analysis& about, const analysis::RunView& view) {
  return analysis::why_not_answered(about, view).empty() &&
         (about.needs != analysis::Needs::kTrace || view.has_trace());
}

std::vector<const Analysis*> asked(const ReportRequest& request, const analysis::RunView& view) {
  std::vector<const Analysis*> list;
  const std::vector<std::string_view> advised =
      request.advice ? advice::asked_analyses() : std::vector<std::string_view>();
  for (const Analysis* about : analysis::analyses()) {
    if (request.page->of_memory && !analysis::is_of_memory(about->needs)) continue;
    const bool can_be = analysis::why_not_answered(*about, view).empty();
    if (request.everything ? !can_be : !is_asked(*about, view)) continue;
    const bool shown = request.sections && (request.everything ||
                                            is_shown(*about, *request.page, view.snapshots.size()));
    if (shown || std::ranges::find(advised, about->name) != advised.end()) list.push_back(about);
  }
  return list;
}

// How many analyses run side by side: those that the pieces of a single one leave threads for.
unsigned side_by_side(const std::vector<const Analysis*>& list, const analysis::RunView& view,
                      unsigned threads) {
  const bool splits_further = std::ranges::any_of(list, [](const Analysis* about) {
    return analysis::is_of_memory(about->needs);  // forecasts have many pieces
  });
  const std::size_t pieces =
      splits_further ? threads : std::clamp<std::size_t>(view.windows.size(), 1, threads);
  return static_cast<unsigned>(threads / pieces);
}

std::string end_text(const base::ImportLog& log, const std::string& path) {
  using base::Note;
  const std::string file(base::name_of_input(std::filesystem::path(path).filename().string()));
  if (log.count(Note::kEndlessEvent) > 0) {
    return file + " was read up to an event of more than 64 MiB.";
  }
  if (log.count(Note::kTruncated) == 0 && log.count(Note::kNoClosingBracket) == 0) {
    return fmt::format("{} is damaged, and numbers from it may be wrong: {}.", file,
                       log[Note::kDamagedCompression].detail);
  }
  return file + " is cut: it ends in the middle.";
}

// What is wrong with the files, for the first line of the findings.
std::string lost_text(const OpenedRun& recording) {
  for (const trace::RankTraces& rank : recording.run.ranks) {
    for (const trace::Window& window : rank.windows) {
      const base::ImportLog& log = window.trace.log();
      if (log.lost_the_end()) return end_text(log, window.source.path);
    }
  }
  for (const memory::Snapshot& snapshot : recording.snapshots) {
    if (snapshot.log.lost_the_end()) return end_text(snapshot.log, snapshot.source.path);
  }
  if (!notes_of(recording).lost_data()) return {};
  return "Parts of the recording could not be read (`stepscope info` says which).";
}

// `of_steps` stand for the answers to the same questions.
advice::Advice advice_of(const report::Answers& answers,
                         const std::vector<report::Answered>& of_steps, const OpenedRun& recording,
                         const analysis::RunView& view, const ReportRequest& request) {
  std::vector<advice::AnswerOf> of;
  of.reserve(answers.answers.size());
  for (const report::Answered& one : answers.answers) {
    const auto instead = std::ranges::find(of_steps, one.about, &report::Answered::about);
    of.push_back({one.about->name, instead == of_steps.end() ? &one.answer : &instead->answer});
  }
  advice::Facts facts(std::move(of), request.thresholds, framework_of(recording),
                      recorder_of(recording));
  facts.set_step_time(static_cast<double>(request.step_ns));
  const advice::Scope scope{.trace = !recording.run.ranks.empty() && !request.page->of_memory,
                            .snapshot = !recording.snapshots.empty(),
                            .lost = lost_text(recording),
                            .chosen_steps = answers.chosen_steps,
                            .failed = report::ended_oddly(answers.info),
                            .left_out_by_guess = analysis::left_out_by_guess(view)};
  advice::Advice advice = advice::advise(facts, scope);
  advice.path = request.paths;
  return advice;
}

}  // namespace

base::Status check_setting(const std::string& name, const std::string& value) {
  for (const Analysis* about : analysis::analyses()) {
    if (!has_parameter(*about, name)) continue;
    SCOPE_TRY(analysis::parse_options(about->parameters, {{name, value}}));
  }
  return base::Done{};
}

base::Result<report::Answers> first_answers(const OpenedRun& recording, const Study& study) {
  report::Answers answers;
  answers.info = summary_of(recording);
  for (const Analysis* about : analysis::analyses()) {
    if (std::ranges::find(report::kFirstAnalyses, about->name) == report::kFirstAnalyses.end() ||
        !is_asked(*about, study.view())) {
      continue;
    }
    SCOPE_TRY(analysis::Answer answer, study.ask(about->name));
    answers.answers.push_back({about, std::move(answer)});
  }
  return answers;
}

namespace {

// The answers to these questions, in their order.
base::Result<std::vector<report::Answered>> ask_all(Study& study,
                                                    const std::vector<const Analysis*>& list,
                                                    const ReportRequest& request,
                                                    unsigned threads) {
  const unsigned at_once = side_by_side(list, study.view(), threads);
  study.use_threads(threads / at_once);
  std::vector<std::optional<base::Result<analysis::Answer>>> given(list.size());
  base::parallel_for(list.size(), at_once, [&](std::size_t i) {
    given[i] = study.ask(list[i]->name, settings_for(*list[i], request));
  });
  std::vector<report::Answered> out;
  for (std::size_t i = 0; i < list.size(); ++i) {
    SCOPE_TRY(analysis::Answer answer, *std::move(given[i]));
    out.push_back({list[i], std::move(answer)});
  }
  return out;
}

// What findings are made of: nothing beside the steps, since they speak of one step.
base::Result<std::vector<report::Answered>> ask_for_findings(const OpenedRun& recording,
                                                             analysis::Selection selection,
                                                             std::vector<const Analysis*> list,
                                                             const ReportRequest& request,
                                                             unsigned threads) {
  const std::vector<std::string_view> advised = advice::asked_analyses();
  std::erase_if(list, [&](const Analysis* about) {
    return std::ranges::find(advised, about->name) == advised.end() ||
           analysis::is_of_memory(about->needs);
  });
  selection.between_steps = true;
  SCOPE_TRY(Study study, Study::prepare(recording, selection, threads));
  return ask_all(study, list, request, threads);
}

}  // namespace

base::Result<report::Answers> full_report(const OpenedRun& recording,
                                          const analysis::Selection& selection,
                                          const ReportRequest& request, unsigned threads) {
  threads = std::max(1u, threads);
  SCOPE_TRY(Study study, Study::prepare(recording, selection, threads));
  report::Answers answers;
  answers.info = summary_of(recording);
  answers.snapshots = study.view().snapshots.size();
  answers.chosen_steps = !selection.steps.empty();

  const std::vector<const Analysis*> list = asked(request, study.view());
  SCOPE_TRY(answers.answers, ask_all(study, list, request, threads));
  if (!request.advice) return answers;
  std::vector<report::Answered> of_steps;
  if (analysis::has_much_beside_steps(study.view())) {
    SCOPE_TRY(of_steps, ask_for_findings(recording, selection, list, request, threads));
  }
  answers.advice = advice_of(answers, of_steps, recording, study.view(), request);
  return answers;
}

namespace {

report::MachineInfo machine_info(const series::Node& node) {
  report::MachineInfo info{.path = node.path,
                           .host = node.host,
                           .interval_ns = node.interval_ns,
                           .samples = node.times.size(),
                           .series = node.series.size(),
                           .finished = node.finished,
                           .sampler_ns = node.cpu_ns,
                           .notes = report::notes_of(node.log, node.path)};
  if (!node.times.empty()) {
    if (node.wall_ns != 0) info.start_unix_ns = node.wall_ns + node.times.front();
    info.span_ns = node.times.back() - node.times.front();
  }
  for (const series::Series& series : node.series) info.values += series.values.size();
  for (const series::Notice& notice : node.notices) {
    info.unseen.push_back({notice.source, notice.text});
  }
  return info;
}

report::RunInfo summary_with(const OpenedRun& recording, const report::RecordedMemory& memory) {
  std::vector<report::NotedFile> others;
  others.reserve(recording.nodes.size());
  for (const series::Node& node : recording.nodes) others.push_back({node.path, &node.log});
  report::RunInfo info = report::summarize(recording.run, memory, recording.rank_records, others);
  for (const series::Node& node : recording.nodes) {
    info.sampling_ns += node.cpu_ns;
    info.machines.push_back(machine_info(node));
  }
  return info;
}

}  // namespace

report::RecordedMemory memory_of(const OpenedRun& recording) {
  return {recording.snapshots, recording.timelines, recording.stats};
}

report::RunInfo summary_of(const OpenedRun& recording) {
  return summary_with(recording, memory_of(recording));
}

report::RunInfo summary_without_memory(const OpenedRun& recording) {
  return summary_with(recording, {});
}

}  // namespace stepscope::session
