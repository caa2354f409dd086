// `stepscope analyze`: one analysis as a table in any format, and the flame graph of `analyze
// stacks`.
#include "session/analyze.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/result.h"
#include "base/standard_input.h"
#include "cli/command.h"
#include "cli/open_run.h"
#include "cli/options/analysis_options.h"
#include "cli/options/arguments.h"
#include "cli/options/settings.h"
#include "cli/output/output_file.h"
#include "cli/terminal/console.h"
#include "report/charts/flame_graph.h"
#include "report/help/help.h"
#include "report/tables/cell_text.h"
#include "report/tables/shown_columns.h"
#include "report/tables/tables.h"
#include "report/writing/numbers.h"

namespace stepscope::cli {

namespace {

// What `analyze stacks` writes besides tables: folded stacks and the flame graph.

inline constexpr Option kSvgOption{
    .name = "svg",
    .value = "PATH",
    .help = "stacks only: draw the flame graph to this file (- for standard output)",
    .completes = Completes::kFiles};

// Fails when --svg or -f folded is asked of an analysis that has no stacks.
base::Status check_flame_graph(const Context& context, const analysis::Analysis& about);

using Parameters = std::map<std::string, std::string>;  // of the analysis, as given

// "main;forward;gemm 1200": a line for each stack, nanoseconds.
std::string folded_of(const analysis::Answer& answer, const Parameters& given);

base::Status write_svg(const Context& context, const analysis::Answer& answer,
                       const Parameters& given);

const base::Table* frames_of(const analysis::Answer& answer) {
  for (const base::Table& table : answer.tables) {
    if (table.name() == "frames") return &table;
  }
  return nullptr;
}

bool is_device(const Parameters& given) {
  const auto metric = given.find("metric");
  return metric != given.end() && metric->second == "device";
}

// "trace.json.gz", "trace.json.gz and 7 more"
std::string title_of(const Arguments& arguments) {
  const std::vector<std::string>& words = arguments.words();
  if (words.size() < 2) return "stacks";
  std::filesystem::path path(words[1]);
  if (!path.has_filename()) path = path.parent_path();
  std::string title(base::name_of_input(path.filename().string()));
  if (words.size() > 2) title += fmt::format(" and {} more", words.size() - 2);
  return title;
}

base::Status check_flame_graph(const Context& context, const analysis::Analysis& about) {
  const Arguments& arguments = context.arguments;
  const bool folded = arguments.text("format") == "folded";
  if ((!folded && !arguments.has_option("svg")) || about.name == "stacks") {
    const std::string path = arguments.text("svg");
    return path.empty() || path == "-" ? base::Status(base::Done{}) : check_folder_of(path);
  }
  return base::fail(base::Code::kInvalidArgument,
                    fmt::format("{} has no stacks; {} is for `stepscope analyze stacks`",
                                about.name, folded ? "-f folded" : arguments.origin("svg")));
}

std::string folded_of(const analysis::Answer& answer, const Parameters& given) {
  const base::Table* frames = frames_of(answer);
  if (frames == nullptr) return {};
  return report::folded_text(*frames, is_device(given) ? "device_self_ns" : "host_self_ns");
}

base::Status write_svg(const Context& context, const analysis::Answer& answer,
                       const Parameters& given) {
  const base::Table* frames = frames_of(answer);
  if (frames == nullptr) return base::Done{};
  const std::string path = context.arguments.text("svg");
  const bool device = is_device(given);
  const report::FlameGraphText text{
      .title = title_of(context.arguments),
      .about = device ? "GPU time by the stack that launched it" : "time on the host by stack"};
  const std::string svg = report::flame_graph_svg(*frames, device ? "device_ns" : "host_ns", text);
  if (path == "-") return context.console.write(svg);
  SCOPE_TRY(write_file(path, svg, context.interrupt));
  context.console.note(
      fmt::format("wrote {} ({}): open it in a browser", path, report::bytes_text(svg.size())));
  return base::Done{};
}

}  // namespace

namespace {

using analysis::Analysis;
using base::Code;
using base::fail;

constexpr std::array<std::string_view, 5> kAnalyzeFormats = {"text", "csv", "json", "md", "folded"};

constexpr std::array kOwn = std::to_array<Option>({
    {.name = "list", .help = "list the analyses and what they answer; with -f json all about them"},
    kRankOption,
    kStepOption,
    kStepsOption,
    kPeaksOption,
    {.name = "table", .value = "NAME", .help = "this table of the answer only"},
    {.name = "sort",
     .value = "COLUMN",
     .help = "order of the rows: idle_ns, name:desc; the largest first, names from A"},
    {.name = "columns",
     .value = "NAMES",
     .help = "these columns only, in this order, by comma: name,count,idle_ns"},
    {.name = "top",
     .value = "N",
     .help = "rows at most; 0: all (default: 50 as text, all otherwise, or the analysis' own)"},
    {.name = "format",
     .letter = 'f',
     .value = "FORMAT",
     .help = "text (default), csv, json (schema stepscope.analysis/1), md; stacks: folded",
     .choices = kAnalyzeFormats},
    {.name = "output",
     .letter = 'o',
     .value = "PATH",
     .help = "write to this file; csv of several tables: to this folder, a file for each",
     .completes = Completes::kFiles},
    kSvgOption,
    kWidthOption,
});

const std::vector<Option>& parameters() {
  static const std::vector<Option> kParameters = parameter_options(kOwn);
  return kParameters;
}

// The command's own options, then the parameters of all analyses.
const std::vector<Option>& all_options() {
  static const std::vector<Option> kAll = [] {
    std::vector<Option> all(kOwn.begin(), kOwn.end());
    all.insert(all.end(), parameters().begin(), parameters().end());
    return all;
  }();
  return kAll;
}

struct Sorting {
  std::string column = {};
  std::optional<bool> descending = {};
};

// What the user asked for, checked against the analysis before anything is read.
struct AnalyzeRequest {
  const Analysis* about = nullptr;
  std::map<std::string, std::string> parameters;
  analysis::Selection selection;
  std::optional<Sorting> sorting;
  std::string table;
  std::vector<std::string> columns;  // none: all, as text all that have room
  std::string format;
  std::string output;
  std::optional<std::uint64_t> top;
  std::optional<std::uint64_t> own_top;  // of an analysis that keeps the first rows by itself
  report::Look look;
};

base::Status check_table(const AnalyzeRequest& request) {
  if (request.table.empty()) return base::Done{};
  std::vector<std::string_view> names;
  for (const base::TableShape& table : request.about->tables) names.push_back(table.name);
  if (std::ranges::find(names, request.table) != names.end()) return base::Done{};
  const std::string near = suggestion(request.table, names);
  return fail(
      Code::kInvalidArgument,
      fmt::format("{} has no table '{}'{}", request.about->name, request.table,
                  near.empty() ? fmt::format("; it has {}", fmt::join(names, ", ")) : near));
}

// A column of the analysis, or of one table of it, by its name or by what stands above it: "idle"
// for idle_ns.
base::Result<std::string> column_named(const std::string& name, const Analysis& about,
                                       const std::string& only_table) {
  std::string spaced = name;
  std::ranges::replace(spaced, '_', ' ');
  std::vector<std::string_view> names;
  for (const base::TableShape& table : about.tables) {
    if (!only_table.empty() && table.name != only_table) continue;
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      const base::ColumnShape& column = table.columns[c];
      if (column.name == name || report::column_title(table, c) == spaced) {
        return std::string(column.name);
      }
      if (std::ranges::find(names, column.name) == names.end()) names.push_back(column.name);
    }
  }
  const std::string where =
      only_table.empty() ? std::string(about.name) : fmt::format("table {}", only_table);
  const std::string near = suggestion(name, names);
  return fail(
      Code::kInvalidArgument,
      fmt::format("{} has no column '{}'{}", where, name,
                  near.empty() ? fmt::format("; it has {}", fmt::join(names, ", ")) : near));
}

base::Result<std::vector<std::string>> columns_from(const Arguments& arguments,
                                                    const Analysis& about,
                                                    const std::string& only_table) {
  std::vector<std::string> columns;
  const std::string list = arguments.text("columns");
  for (std::size_t at = 0; at < list.size();) {
    const std::size_t end = std::min(list.find(',', at), list.size());
    SCOPE_TRY(std::string column, column_named(list.substr(at, end - at), about, only_table));
    // Twice would be one key twice in JSON.
    if (std::ranges::find(columns, column) == columns.end()) columns.push_back(std::move(column));
    at = end + 1;
  }
  return columns;
}

base::Result<std::optional<Sorting>> sorting_from(const Arguments& arguments, const Analysis& about,
                                                  const std::string& only_table) {
  if (!arguments.has_option("sort")) return std::optional<Sorting>();
  Sorting sorting{.column = arguments.text("sort")};
  if (const std::size_t colon = sorting.column.find(':'); colon != std::string::npos) {
    const std::string order = sorting.column.substr(colon + 1);
    if (order != "asc" && order != "desc") {
      return fail(Code::kInvalidArgument,
                  fmt::format("{}: '{}' is not asc or desc", arguments.origin("sort"), order));
    }
    sorting.descending = order == "desc";
    sorting.column.resize(colon);
  }
  SCOPE_TRY(sorting.column, column_named(sorting.column, about, only_table));
  return std::optional(sorting);
}

base::Result<AnalyzeRequest> analyze_request_from(const Context& context) {
  const Arguments& arguments = context.arguments;
  AnalyzeRequest request;
  SCOPE_TRY(request.about, analysis_named(arguments.words().front()));
  SCOPE_TRY(request.parameters, parameters_from(arguments, *request.about, parameters()));
  SCOPE_TRY(request.selection, selection_from(arguments));
  request.table = arguments.text("table");
  SCOPE_TRY(check_table(request));
  SCOPE_TRY(request.sorting, sorting_from(arguments, *request.about, request.table));
  SCOPE_TRY(request.columns, columns_from(arguments, *request.about, request.table));
  request.format = arguments.has_option("format") ? arguments.text("format") : "text";
  request.output = arguments.text("output");
  // Cut after sorting: the analysis itself would keep the first by its own order.
  const auto& known = request.about->parameters;
  const bool has_top = std::ranges::find(known, "top", &analysis::Parameter::name) != known.end();
  if (request.sorting && has_top) request.parameters["top"] = std::string("0");
  if (arguments.has_option("top") && (request.sorting || !has_top)) {
    SCOPE_TRY(request.top, count_from(arguments, "top"));
  } else if (arguments.has_option("top")) {
    SCOPE_TRY(request.own_top, count_from(arguments, "top"));
  }
  SCOPE_TRY(check_flame_graph(context, *request.about));
  if (request.format == "folded" && !request.columns.empty()) {
    return fail(Code::kInvalidArgument,
                fmt::format("{}: folded stacks have no columns", arguments.origin("columns")));
  }
  SCOPE_TRY(request.look, look_from(context));
  if (!request.output.empty()) request.look.colour = false;
  if (request.output != "-" && request.format != "csv") SCOPE_TRY(check_folder_of(request.output));
  return request;
}

// Whether a table has anything of what was asked for.
bool has_any(const base::Table& table, const std::vector<std::string>& columns) {
  return columns.empty() || std::ranges::any_of(columns, [&](const std::string& column) {
           return table.find(column).has_value();
         });
}

// The tables that were asked for, in the order that was asked for.
void arrange(const AnalyzeRequest& request, analysis::Answer& answer) {
  std::vector<base::Table> tables;
  for (base::Table& table : answer.tables) {
    if (!request.table.empty() && table.name() != request.table) continue;
    if (!has_any(table, request.columns)) continue;
    const auto column =
        request.sorting ? table.find(request.sorting->column) : std::optional<std::size_t>();
    if (column) {
      const bool by_default = report::descends_by_default(table.shape().columns[*column]);
      table = report::sorted_by(table, *column, request.sorting->descending.value_or(by_default));
    }
    const bool cut = request.format != "text" && request.top && *request.top > 0;
    tables.push_back(cut ? report::first_rows(table, *request.top) : std::move(table));
  }
  answer.tables = std::move(tables);
  std::erase_if(answer.remarks, [&](const analysis::Remark& remark) {
    return !request.table.empty() && !remark.table.empty() && remark.table != request.table;
  });
}

// Rows of a table as text; 0: all. An analysis may have one more than it was asked for: of what it
// left out. Its other tables are no shorter for that.
std::uint64_t rows_as_text(const AnalyzeRequest& request) {
  constexpr std::uint64_t kMostRows = 50;
  if (request.top) return *request.top;
  if (!request.own_top) return kMostRows;
  return *request.own_top == 0 ? 0 : std::max(kMostRows, *request.own_top + 1);
}

std::string rendered(const AnalyzeRequest& request, const analysis::Answer& answer, bool terminal) {
  const std::vector<std::string_view> columns(request.columns.begin(), request.columns.end());
  if (request.format == "json") return report::answer_json(*request.about, answer, columns);
  if (request.format == "md") return report::answer_md(*request.about, answer, columns);
  if (request.format == "csv") {
    std::string text;
    for (const base::Table& table : answer.tables) {
      if (!text.empty()) text += '\n';
      text += report::table_csv(table, columns);
    }
    return text;
  }
  report::TableTextOptions options;
  options.look = request.look;
  options.bars = terminal;
  options.rows = rows_as_text(request);
  options.columns = columns;
  return report::answer_text(*request.about, answer, options);
}

base::Status write_answer(const Context& context, const AnalyzeRequest& request,
                          const analysis::Answer& answer) {
  if (request.output.empty() || request.output == "-") {
    return context.console.write(rendered(request, answer, context.console.out_is_terminal()));
  }
  if (request.format != "csv" || answer.tables.size() == 1) {
    return write_file(request.output, rendered(request, answer, false), context.interrupt);
  }
  std::error_code error;
  std::filesystem::create_directories(request.output, error);
  if (error) return fail(Code::kIo, fmt::format("{}: {}", request.output, error.message()));
  const std::vector<std::string_view> columns(request.columns.begin(), request.columns.end());
  for (const base::Table& table : answer.tables) {
    const std::string path =
        fmt::format("{}/{}.{}.csv", request.output, request.about->name, table.name());
    SCOPE_TRY(write_file(path, report::table_csv(table, columns), context.interrupt));
  }
  return base::Done{};
}

// The flame graph and the tables; of both only what was asked for.
base::Status write_analyze_all(const Context& context, const AnalyzeRequest& request,
                               analysis::Answer& answer) {
  const Arguments& arguments = context.arguments;
  if (arguments.has_option("svg")) {
    SCOPE_TRY(write_svg(context, answer, request.parameters));
    if (!arguments.has_option("format") && request.output.empty()) return base::Done{};
  }
  if (request.format != "folded") {
    arrange(request, answer);
    return write_answer(context, request, answer);
  }
  const std::string text = folded_of(answer, request.parameters);
  if (request.output.empty() || request.output == "-") return context.console.write(text);
  return write_file(request.output, text, context.interrupt);
}

Exit run_analyze(const Context& context) {
  if (context.arguments.has_option("list")) {
    const bool json = context.arguments.text("format") == "json";
    return show_text(context, json ? report::analyses_json()
                                   : report::analyses_text(context.console.out_look()));
  }
  if (context.arguments.words().empty()) {
    context.console.error("no analysis given");
    context.console.hint("`stepscope analyze --list` lists them");
    return Exit::kUsage;
  }
  const auto request = analyze_request_from(context);
  if (!request) {
    const Exit status = show_error(context, request.error());
    if (status != Exit::kUsage) return status;
    const std::vector<std::string>& words = context.arguments.words();
    const Analysis* about = analysis::find_analysis(words.front());
    std::error_code ignored;
    if (about != nullptr) {
      context.console.hint(fmt::format("`stepscope analyze {} --help` explains it", about->name));
    } else if (std::filesystem::exists(words.front(), ignored)) {
      context.console.hint(fmt::format(
          "the question comes first, for example: stepscope analyze kernels {}", words.front()));
    } else {
      context.console.hint("`stepscope analyze --list` lists them");
    }
    return status;
  }
  Exit status = Exit::kDone;
  const std::optional<TimedRun> opened = open_run(context, status, 1);
  if (!opened) return status;
  const auto study = session::Study::prepare(*opened, request->selection, context.settings.jobs);
  if (!study) return show_selection_error(context, study.error());
  auto answer = study->ask(request->about->name, request->parameters);
  if (!answer) return show_error(context, answer.error());
  const bool answered = analysis::why_not_answered(*request->about, study->view()).empty();
  // Sensors that are not there are named, not shown as five tables without a row.
  const bool measured = request->about->needs != analysis::Needs::kSystem ||
                        std::ranges::any_of(answer->tables, [](const base::Table& table) {
                          return table.rows() > 0;
                        });
  if ((!answered || !measured) && request->format == "text") {
    answer->tables.clear();  // the sentences say it all
  }
  if (const base::Status written = write_analyze_all(context, *request, *answer); !written) {
    return show_error(context, written.error());
  }
  if (request->format == "csv" || request->format == "folded") {
    for (const analysis::Remark& remark : answer->remarks) context.console.note(remark.text);
  }
  return finish(context, *opened, Shown::kWithoutLosses);
}

// `stepscope analyze kernels --help`
std::string help_analyze_about(std::span<const std::string> words, const report::Look& look) {
  const Analysis* about = words.empty() ? nullptr : analysis::find_analysis(words.front());
  if (about == nullptr) return {};
  return fmt::format(
      "usage: stepscope analyze {} [options] PATH...\n\n{}\n"
      "`stepscope analyze --help` shows the options every analysis has: --rank, --step, --peaks "
      "and "
      "more.\n",
      about->name, report::analysis_help(*about, look));
}

}  // namespace

const Command kAnalyze{
    .name = "analyze",
    .summary = "one question about a run; --list shows all",
    .arguments = "NAME PATH...",
    .text =
        R"(Answers one question about a run: tables, and plain sentences where there is no answer.
`stepscope analyze --list` lists the questions; `stepscope analyze NAME --help` shows the
options of one, its tables and what every column means.

PATH is a trace file, a folder of them (one per rank), or - for standard input.
)",
    .options = all_options(),
    .examples = R"(  stepscope analyze --list
  stepscope analyze kernels --top 10 trace.json.gz
  stepscope analyze temporal-breakdown --table steps --sort idle_ns runs/exp1/
  stepscope analyze kernels -f csv --rank 0 runs/exp1/ > kernels.csv
  stepscope analyze temporal-breakdown -f csv -o tables/ runs/exp1/
  stepscope analyze stacks --metric device --svg flame.svg trace.json.gz
)",
    .completes = Completes::kAnalyses,
    .run = run_analyze,
    .help_about = help_analyze_about,
};

}  // namespace stepscope::cli
