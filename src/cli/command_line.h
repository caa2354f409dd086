// The command line as a function: the program calls it, and so does the Python package's command.
#pragma once

#include <span>
#include <string>

namespace stepscope::cli {

// The words behind the program's name; returns the exit status.
int run_command_line(std::span<const std::string> words);

}  // namespace stepscope::cli
