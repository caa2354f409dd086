// `stepscope diff`: two runs, ranks or sets of steps side by side.

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/standard_input.h"
#include "cli/command.h"
#include "cli/open_run.h"
#include "cli/options/analysis_options.h"
#include "cli/options/arguments.h"
#include "cli/options/settings.h"
#include "cli/output/page_output.h"
#include "cli/terminal/console.h"
#include "report/compare/compare.h"
#include "session/compare/compare.h"

namespace stepscope::cli {
namespace {

constexpr std::array kDiffOptions = std::to_array<Option>({
    {.name = "rank", .value = "LIST", .help = "these ranks of both sides only: 0,3,8-15"},
    {.name = "rank-a", .value = "LIST", .help = "the same, of A"},
    {.name = "rank-b", .value = "LIST", .help = "the same, of B"},
    {.name = "step",
     .value = "LIST",
     .help = "these steps of both sides only, by number: 3 or 3,5-7 (default: all but warm-up)"},
    {.name = "step-a", .value = "LIST", .help = "the same, of A"},
    {.name = "step-b", .value = "LIST", .help = "the same, of B"},
    kHtmlOption,
    kMarkdownOption,
    {.name = "json", .help = "print JSON (schema stepscope.diff/1): every row, full precision"},
    kTablesOption,
    kStepsOption,
    kWidthOption,
});

struct DiffRequest {
  std::string before, after;  // paths
  analysis::Selection of_before, of_after;
  report::Look look;
};

base::Result<DiffRequest> diff_request_from(const Context& context) {
  const Arguments& arguments = context.arguments;
  const std::vector<std::string>& words = arguments.words();
  const bool has_sides = arguments.has_option("rank-a") || arguments.has_option("rank-b") ||
                         arguments.has_option("step-a") || arguments.has_option("step-b");
  if (words.empty() || words.size() > 2 || (words.size() == 1 && !has_sides)) {
    return base::fail(base::Code::kInvalidArgument,
                      words.size() == 1
                          ? "one run given: name another, or two parts of this one with --rank-a "
                            "and --rank-b, or --step-a and --step-b"
                          : "two runs are compared: give A and B, each a trace file or a folder");
  }
  DiffRequest request;
  request.before = words.front();
  request.after = words.back();
  SCOPE_TRY(check_page_options(arguments));
  SCOPE_TRY(request.of_before, selection_from(arguments, "-a"));
  SCOPE_TRY(request.of_after, selection_from(arguments, "-b"));
  SCOPE_TRY(request.look, look_from(context));
  return request;
}

std::string json_of(const report::Answers& answers) {
  return report::diff_json(answers.answers.front().answer);
}

bool has_trace(const Context& context, const TimedRun& run, const std::string& path) {
  if (!run.run.ranks.empty()) return true;
  context.console.error(std::string(base::name_of_input(path)) +
                        " is no trace, and steps are compared");
  context.console.hint("`stepscope memory A B` compares memory snapshots");
  return false;
}

Exit run_diff(const Context& context) {
  const auto request = diff_request_from(context);
  if (!request) {
    const Exit status = show_error(context, request.error());
    if (status == Exit::kUsage) context.console.hint("`stepscope diff --help` shows examples");
    return status;
  }
  Exit status = Exit::kDone;
  const std::optional<TimedRun> before = open_paths(context, status, {request->before});
  if (!before) return status;
  std::optional<TimedRun> other;
  if (request->after != request->before) {
    other = open_paths(context, status, {request->after});
    if (!other) return status;
  }
  const TimedRun& after = other ? *other : *before;
  if (!has_trace(context, *before, request->before) || !has_trace(context, after, request->after)) {
    return Exit::kNotReadable;
  }
  auto answer =
      session::compare({&*before, request->of_before, request->before},
                       {&after, request->of_after, request->after}, context.settings.jobs);
  if (!answer) return show_selection_error(context, answer.error());
  report::Answers answers;
  answers.answers.push_back({&analysis::kDiff, *std::move(answer)});
  const bool tables = context.arguments.has_option("csv");
  if (tables) {
    if (const base::Status written = write_tables(context, answers); !written) {
      return show_error(context, written.error());
    }
  }
  const report::Page page = report::make_diff_page(answers, context.arguments.words());
  if (const base::Status written =
          write_page(context, answers, page, request->look, tables, json_of);
      !written) {
    return show_error(context, written.error());
  }
  const Exit first = finish(context, *before, Shown::kWithoutLosses);
  const Exit second = other ? finish(context, after, Shown::kWithoutLosses) : first;
  return first == Exit::kDone ? second : first;
}

}  // namespace

const Command kDiff{
    .name = "diff",
    .summary = "two runs side by side: what is slower, faster, new or gone, and whether it is real",
    .arguments = "A B",
    .text =
        R"(Compares two runs, two ranks or two sets of steps, and opens with one sentence: how much
longer a step takes, how sure that is, and where the difference is. Then step times, the
parts of the step, kernels, operators and memory. Warm-up steps are found and left out. Of
several ranks the slowest is compared. Kernels whose names differ (another version of a
library, another vendor) are matched by the operator that launches them.

A and B are trace files or folders of them; one path alone is compared with itself, by
--rank-a and --rank-b, or by --step-a and --step-b.
)",
    .options = kDiffOptions,
    .examples = R"(  stepscope diff runs/monday runs/tuesday
  stepscope diff --html diff.html before.json.gz after.json.gz
  stepscope diff runs/exp1 --rank-a 0 --rank-b 3
  stepscope diff trace.json.gz --step-a 3-5 --step-b 8-10
)",
    .completes = Completes::kFiles,
    .run = run_diff,
};

}  // namespace stepscope::cli
