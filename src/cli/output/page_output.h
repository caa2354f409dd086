// How commands that end in a page write it: as text, Markdown, JSON or an HTML file.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/command.h"
#include "cli/open_run.h"
#include "cli/options/arguments.h"
#include "report/page/page.h"

namespace stepscope::cli {

inline constexpr Option kHtmlOption{
    .name = "html",
    .value = "FILE",
    .help = "write one HTML file with charts, which opens without a network; - for standard output",
    .completes = Completes::kFiles};
inline constexpr Option kMarkdownOption{.name = "md", .help = "print Markdown instead of text"};
inline constexpr Option kReportJsonOption{
    .name = "json", .help = "print JSON (schema stepscope.report/1): every table, full precision"};

inline constexpr Option kTablesOption{
    .name = "csv",
    .value = "DIR",
    .help = "write every table to this folder as ANALYSIS.TABLE.csv",
    .completes = Completes::kFiles};

// Says what is wrong before a large run is read for nothing.
base::Status check_page_options(const Arguments& arguments);

// Whether what write_page prints holds the whole page, with what was lost while reading.
Shown shown_on_stdout(const Arguments& arguments);

// Every table to the folder of --csv.
base::Status write_tables(const Context& context, const report::Answers& answers);

// Writes all that was asked for; text where nothing was, unless files were already written. `json`
// where the page is not that of the report.
base::Status write_page(const Context& context, const report::Answers& answers,
                        const report::Page& page, const report::Look& look,
                        bool wrote_files = false,
                        std::string (*json)(const report::Answers&) = nullptr);

}  // namespace stepscope::cli
