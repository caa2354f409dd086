// `stepscope check`: compares runs with limits and a baseline, for CI.
#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/command.h"
#include "cli/open_run.h"
#include "cli/options/analysis_options.h"
#include "cli/options/arguments.h"
#include "cli/options/settings.h"
#include "cli/output/output_file.h"
#include "cli/terminal/console.h"
#include "report/compare/compare.h"
#include "session/compare/compare.h"
#include "session/user_files/user_files.h"

namespace stepscope::cli {
namespace {

using analysis::RunSamples;
using base::Code;
using base::fail;

constexpr std::array<std::string_view, 4> kUnits = {"ns", "us", "ms", "s"};
constexpr std::array<double, 4> kUnitNs = {1, 1e3, 1e6, 1e9};

constexpr std::array kCheckOptions = std::to_array<Option>({
    {.name = "baseline",
     .value = "PATH",
     .help = "what to compare with: a trace, a folder, a baseline file, or a file of step times",
     .completes = Completes::kFiles},
    {.name = "rules",
     .value = "FILE",
     .help = "YAML with limits (default: step time and throughput no worse, 5 % more peak memory, "
             "0.02 more exposed communication)",
     .completes = Completes::kFiles},
    {.name = "write-baseline",
     .value = "FILE",
     .help = "write what these runs say about the limits: a few kB, made to be committed",
     .completes = Completes::kFiles},
    {.name = "strict", .help = "fail too where it is unsure: a change worth seeing could hide"},
    {.name = "allow-unfinished",
     .help = "judge a run that was killed, raised or was ended by a signal like any other"},
    {.name = "json", .help = "print JSON (schema stepscope.check/1)"},
    {.name = "md", .help = "print Markdown instead of text"},
    {.name = "github", .help = "print GitHub's annotations too"},
    {.name = "junit", .value = "FILE", .help = "write JUnit XML", .completes = Completes::kFiles},
    {.name = "summary",
     .value = "FILE",
     .help = "add the Markdown to the end of this file: $GITHUB_STEP_SUMMARY",
     .completes = Completes::kFiles},
    {.name = "unit",
     .value = "UNIT",
     .help = "of bare numbers in a file of step times: ns, us, ms or s (default: s)",
     .choices = kUnits},
    kRankOption,
    kStepOption,
    kStepsOption,
    kWidthOption,
});

struct CheckRequest {
  analysis::GateRules rules = analysis::standard_rules();
  analysis::Selection selection;
  double unit_ns = 1e9;
  report::Look look;
};

bool holds_baseline(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string first(64, '\0');
  file.read(first.data(), static_cast<std::streamsize>(first.size()));
  return first.find("\"stepscope.baseline/") != std::string::npos;
}

// Nothing that is read may be written over: not the runs, not what they are compared with.
base::Status check_outputs(const Arguments& arguments) {
  std::vector<std::string> inputs = arguments.words();
  for (const char* option : {"baseline", "rules"}) {
    if (arguments.has_option(option)) inputs.push_back(arguments.text(option));
  }
  std::vector<std::string> files = inputs;
  std::erase_if(files, [](const std::string& path) {
    std::error_code error;
    return std::filesystem::is_directory(path, error);
  });
  for (const char* option : {"write-baseline", "junit", "summary"}) {
    if (!arguments.has_option(option)) continue;
    const std::string path = arguments.text(option);
    SCOPE_TRY(check_folder_of(path));
    // An old baseline may lie in the folder of a run, and is no part of that run.
    SCOPE_TRY(
        check_not_an_input(arguments.origin(option), path, holds_baseline(path) ? files : inputs));
  }
  return base::Done{};
}

base::Result<CheckRequest> check_request_from(const Context& context) {
  const Arguments& arguments = context.arguments;
  if (arguments.words().empty()) {
    return fail(
        Code::kInvalidArgument,
        "no run given: a trace, a folder, or a file of step times; several are repeated runs");
  }
  CheckRequest request;
  SCOPE_TRY(request.look, look_from(context));
  SCOPE_TRY(request.selection, selection_from(arguments));
  if (arguments.has_option("rules")) {
    SCOPE_TRY(request.rules, session::read_gate_rules(arguments.text("rules")));
  }
  request.rules.strict |= arguments.has_option("strict");
  request.rules.allow_unfinished |= arguments.has_option("allow-unfinished");
  for (std::size_t i = 0; i < kUnits.size(); ++i) {
    if (arguments.text("unit") == kUnits[i]) request.unit_ns = kUnitNs[i];
  }
  if (arguments.has_option("json") &&
      (arguments.has_option("md") || arguments.has_option("github"))) {
    return fail(Code::kInvalidArgument, "--json stands alone on standard output");
  }
  SCOPE_TRY(check_outputs(arguments));
  const bool only_bounds = std::ranges::all_of(request.rules.limits, [](const auto& limit) {
    return limit.bound && !limit.worse_share && !limit.worse_by;
  });
  if (!arguments.has_option("baseline") && !arguments.has_option("write-baseline") &&
      !only_bounds) {
    return fail(Code::kInvalidArgument,
                "nothing to compare with: give --baseline, or write one with --write-baseline");
  }
  return request;
}

// Nothing after an error, which then has been shown.
std::optional<std::vector<RunSamples>> runs_in(const Context& context, const CheckRequest& request,
                                               const std::string& path, Exit& status) {
  auto read = session::read_samples(path, request.unit_ns);
  if (!read) {
    status = show_error(context, read.error());
    return std::nullopt;
  }
  if (*read) return *std::move(read);
  const std::optional<TimedRun> opened = open_paths(context, status, {path});
  if (!opened) return std::nullopt;
  auto samples =
      session::samples_of(*opened, path, request.selection, request.rules, context.settings.jobs);
  if (!samples) {
    status = show_selection_error(context, samples.error());
    return std::nullopt;
  }
  const Exit lost = finish(context, *opened, Shown::kWithoutLosses);
  if (status == Exit::kDone) status = lost;
  return std::vector<RunSamples>{*std::move(samples)};
}

base::Status add_to(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary | std::ios::app);
  file << text << std::flush;
  if (file.good()) return base::Done{};
  return fail(Code::kIo, fmt::format("{}: could not be written", path));
}

base::Status write_check_report(const Context& context, const report::GateReport& report,
                                const CheckRequest& request) {
  const Arguments& arguments = context.arguments;
  if (arguments.has_option("junit")) {
    SCOPE_TRY(write_file(arguments.text("junit"), report::gate_junit(report), context.interrupt));
  }
  if (arguments.has_option("summary")) {
    SCOPE_TRY(add_to(arguments.text("summary"), report::gate_md(report)));
  }
  if (arguments.has_option("json")) return context.console.write(report::gate_json(report));
  SCOPE_TRY(context.console.write(arguments.has_option("md")
                                      ? report::gate_md(report)
                                      : report::gate_text(report, request.look)));
  if (!arguments.has_option("github")) return base::Done{};
  return context.console.write(report::gate_github(report));
}

// A limit that the user wrote down must be judged; a regression says more than a limit that was
// not.
Exit judged_exit(const Context& context, const report::GateReport& report, Exit status) {
  const bool regressed =
      std::ranges::any_of(report.judged, [&](const auto& one) { return fails(one, report.rules); });
  if (regressed) return Exit::kCheckFailed;
  if (report.nothing_judged()) status = Exit::kCheckFailed;
  for (const analysis::Judged& one : report.judged) {
    if (!is_overlooked(one)) continue;
    context.console.error(
        fmt::format("the limit '{}' could not be judged: {}", one.limit.name, one.why));
    status = Exit::kUsage;
  }
  return status;
}

// What runs are compared with must be worth it: a run without steps guards nothing.
bool may_be_baseline(const Context& context, const CheckRequest& request,
                     std::span<const RunSamples> runs) {
  bool good = true;
  for (const analysis::Judged& one : analysis::judge(request.rules, {}, runs)) {
    if (!one.about_run) continue;
    context.console.error(fmt::format("no baseline is written: {}", one.why));
    if (one.limit.name == "ending") {
      context.console.hint("--allow-unfinished takes it all the same");
    }
    good = false;
  }
  return good;
}

Exit run_check(const Context& context) {
  const auto request = check_request_from(context);
  if (!request) {
    const Exit status = show_error(context, request.error());
    if (status == Exit::kUsage) context.console.hint("`stepscope check --help` shows examples");
    return status;
  }
  const Arguments& arguments = context.arguments;
  Exit status = Exit::kDone;
  report::GateReport report;
  for (const std::string& path : arguments.words()) {
    auto runs = runs_in(context, *request, path, status);
    if (!runs) return status;
    for (RunSamples& run : *runs) report.after.push_back(std::move(run));
  }
  if (arguments.has_option("write-baseline")) {
    if (!may_be_baseline(context, *request, report.after)) return Exit::kCheckFailed;
    const std::string path = arguments.text("write-baseline");
    const base::Status written =
        write_file(path, session::baseline_json(report.after), context.interrupt);
    if (!written) return show_error(context, written.error());
    context.console.note(fmt::format("wrote {}", path));
    if (!arguments.has_option("baseline")) return status;
  }
  if (arguments.has_option("baseline")) {
    auto runs = runs_in(context, *request, arguments.text("baseline"), status);
    if (!runs) return status;
    report.before = *std::move(runs);
  }
  report.rules = request->rules;
  report.judged = analysis::judge(request->rules, report.before, report.after);
  if (const base::Status written = write_check_report(context, report, *request); !written) {
    return show_error(context, written.error());
  }
  return judged_exit(context, report, status);
}

}  // namespace

const Command kCheck{
    .name = "check",
    .summary = "a gate for CI: exit 1 where a run is surely worse than its baseline",
    .arguments = "RUN...",
    .text =
        R"(Compares runs with a baseline by limits on step time, throughput, peak memory, exposed
communication or any column of any analysis. Exit 1 where one is surely worse than allowed:
noise within a run, between steps that follow each other and between runs of one program
does not count. Where a change worth seeing could hide in the noise, it says how many steps
or runs it takes to see it, and passes (--strict: fails). Exit 1 too for a run that was killed
or raised, and for one without steps.

RUN is a trace, a run folder, a folder of traces (one per rank), or a file with step times: a
line is a number, a list of numbers (one run), or an object with step_time_ms or the like. Of a
run folder all settled steps outside of trace windows count. Several RUNs are the same program
run again, which narrows the noise. The rules file: docs/formats/check-rules.md.
)",
    .options = kCheckOptions,
    .examples = R"(  stepscope check run1/ run2/ run3/ --write-baseline baseline.json
  stepscope check runs/today --baseline baseline.json --rules ci.yaml
  stepscope check steps.jsonl --unit ms --baseline baseline.json --junit check.xml
  stepscope check runs/today --baseline runs/yesterday --github --summary $GITHUB_STEP_SUMMARY
)",
    .completes = Completes::kFiles,
    .run = run_check,
};

}  // namespace stepscope::cli
