// Writes a page as text, Markdown, JSON, CSV files or HTML.
#include "cli/output/page_output.h"

#include <filesystem>
#include <string>
#include <system_error>

#include <fmt/format.h>

#include "cli/command_line.h"
#include "cli/output/output_file.h"
#include "cli/terminal/console.h"
#include "report/tables/tables.h"
#include "report/writing/numbers.h"

namespace stepscope::cli {
namespace {

base::Status write_html(const Context& context, const report::Page& page) {
  const std::string path = context.arguments.text("html");
  const std::string html = report::page_html(page, version_line());
  if (path == "-") return context.console.write(html);
  SCOPE_TRY(write_file(path, html, context.interrupt));
  context.console.note(
      fmt::format("wrote {} ({}): open it in a browser", path, report::bytes_text(html.size())));
  return base::Done{};
}

}  // namespace

base::Status check_page_options(const Arguments& arguments) {
  const bool html_to_stdout = arguments.text("html") == "-";
  const int to_stdout = (html_to_stdout ? 1 : 0) + (arguments.has_option("md") ? 1 : 0) +
                        (arguments.has_option("json") ? 1 : 0);
  if (to_stdout > 1) {
    return base::fail(base::Code::kInvalidArgument,
                      "--md, --json and --html - all print to standard output: choose one");
  }
  if (arguments.has_option("html") && !html_to_stdout)
    SCOPE_TRY(check_folder_of(arguments.text("html")));
  if (!arguments.has_option("csv")) return base::Done{};
  std::error_code error;
  const std::filesystem::path folder = arguments.text("csv");
  if (!std::filesystem::exists(folder, error) || std::filesystem::is_directory(folder, error)) {
    return base::Done{};
  }
  return base::fail(base::Code::kInvalidArgument,
                    fmt::format("{} {}: a file; expected a folder to write tables to",
                                arguments.origin("csv"), folder.native()));
}

Shown shown_on_stdout(const Arguments& arguments) {
  const bool only_files = (arguments.has_option("html") && arguments.text("html") != "-") ||
                          (arguments.has_option("csv") && !arguments.has_option("html"));
  const bool printed = arguments.has_option("json") || arguments.has_option("md") || !only_files;
  return printed ? Shown::kWithLosses : Shown::kWithoutLosses;
}

base::Status write_tables(const Context& context, const report::Answers& answers) {
  const std::string folder = context.arguments.text("csv");
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return base::fail(base::Code::kIo, fmt::format("{}: {}", folder, error.message()));
  std::size_t files = 0;
  for (const report::Answered& answered : answers.answers) {
    for (const base::Table& table : answered.answer.tables) {
      const std::string path =
          fmt::format("{}/{}.{}.csv", folder, answered.about->name, table.name());
      SCOPE_TRY(write_file(path, report::table_csv(table), context.interrupt));
      ++files;
    }
  }
  context.console.note(fmt::format("wrote {} to {}", report::counted(files, "file"), folder));
  return base::Done{};
}

base::Status write_page(const Context& context, const report::Answers& answers,
                        const report::Page& page, const report::Look& look, bool wrote_files,
                        std::string (*json)(const report::Answers&)) {
  const Arguments& arguments = context.arguments;
  if (arguments.has_option("html")) SCOPE_TRY(write_html(context, page));
  if (arguments.has_option("json")) {
    return context.console.write(json ? json(answers) : report::report_json(answers));
  }
  if (arguments.has_option("md")) return context.console.write(report::page_md(page));
  if (wrote_files || arguments.has_option("html")) return base::Done{};
  if (arguments.has_option("brief"))
    return context.console.write(report::brief_page_text(page, look));
  return context.console.write(report::page_text(page, look));
}

}  // namespace stepscope::cli
