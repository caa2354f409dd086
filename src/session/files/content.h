// Whether a JSON file that happens to lie in a folder is a trace. Only files nobody named are
// asked: a configuration or a memory snapshot beside the traces must not fail the run.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace stepscope::session {

// How much of the text reason_to_skip wants. Writers put metadata before the events, and the
// process groups of a large job alone fill hundreds of kilobytes.
inline constexpr std::size_t kContentPrefixBytes = std::size_t{1} << 20;

// The reason for what stepscope itself wrote beside its recordings: run.json, a report.
inline constexpr std::string_view kOwnFile = "written by stepscope";

// Why the file is no trace, from the beginning of its text; empty when it may be one. `whole` says
// that the text is complete. A file that was cut short, even to nothing, may be a trace: its loss
// is for the reader to report.
std::string reason_to_skip(std::string_view text, bool whole);

}  // namespace stepscope::session
