// The command line as a function: the program calls it, and so does the Python package's command.
#pragma once

#include <span>
#include <string>

#include "cli/command.h"
#include "report/writing/text_table.h"

namespace stepscope::cli {

// Takes the words after the program's name; returns the exit status.
int run_command_line(std::span<const std::string> words);

// Help, printed from the table of commands.

std::string overview(const report::Look& look);
// About these words of the command, or empty: `stepscope analyze kernels --help`.
std::string help_about(const Command& command, std::span<const std::string> words,
                       const report::Look& look);
std::string help_for(const Command& command, const report::Look& look);
std::string version_line();  // "stepscope 0.2.0"

}  // namespace stepscope::cli
