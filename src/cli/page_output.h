// How commands that end in a page write it: as text, Markdown, JSON or an HTML file.
#pragma once

#include "base/result.h"
#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/open_run.h"
#include "report/page.h"

namespace stepscope::cli {

inline constexpr Option kHtmlOption{
    .name = "html",
    .value = "FILE",
    .help = "write one HTML file with charts, which opens without a network; - for standard output",
    .completes = Completes::kFiles};
inline constexpr Option kMarkdownOption{.name = "md", .help = "print Markdown instead of text"};
inline constexpr Option kReportJsonOption{
    .name = "json", .help = "print JSON (schema stepscope.report/1): every table, full precision"};

// Says what is wrong before a large run is read for nothing.
base::Status check_page_options(const Arguments& arguments);

// Whether what write_page prints holds the whole page, with what was lost while reading.
Shown shown_on_stdout(const Arguments& arguments);

// Writes all that was asked for; text where nothing was, unless files were already written.
base::Status write_page(const Context& context, const report::Answers& findings,
                        const report::Page& page, const report::Look& look,
                        bool wrote_files = false);

}  // namespace stepscope::cli
