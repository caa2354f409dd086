// How every command opens its paths: with the progress bar, and with errors a person can act on.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.h"
#include "session/session.h"

namespace stepscope::cli {

struct TimedRun : session::OpenedRun {
  double seconds = 0;  // it took
};

// Nothing after an error, which then has been shown; `status` is what to exit with.
// The paths are the words after the first `skip`.
std::optional<TimedRun> open_run(const Context& context, Exit& status, std::size_t skip = 0);

// The same of these paths.
std::optional<TimedRun> open_paths(const Context& context, Exit& status,
                                   const std::vector<std::string>& paths);

// Shows an error and says what to exit with.
Exit show_error(const Context& context, const base::Error& error);
// Text that is the whole answer.
Exit show_text(const Context& context, std::string_view text);

// Whether what a command printed says itself what is missing.
enum class Shown : unsigned char { kWithLosses, kWithoutLosses };

// The exit status of a command that has done its work. What is missing of the files is said in one
// line on standard error, unless it has just been shown on the same terminal.
Exit finish(const Context& context, const session::OpenedRun& recording, Shown shown);

}  // namespace stepscope::cli
