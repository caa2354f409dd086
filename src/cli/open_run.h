// How every command opens its paths: with the progress bar, and with errors a person can act on.
#pragma once

#include <optional>
#include <string>

#include "cli/command.h"
#include "session/session.h"

namespace stepscope::cli {

struct OpenedRun : session::Recording {
  double seconds = 0;  // it took
};

// Nothing after an error, which then has been shown; `status` is what to exit with.
// The paths are the words behind the first `skip`.
std::optional<OpenedRun> open_run(const Context& context, Exit& status, std::size_t skip = 0);

// Shows an error and says what to exit with.
Exit show_error(const Context& context, const base::Error& error);

// One line on standard error when something that was in the files is missing.
void note_lost_data(const Context& context, const session::Recording& recording);

}  // namespace stepscope::cli
