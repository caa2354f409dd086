// How a program ended, in words for its user.
#pragma once

#include <string>

#include "cli/program/child_program.h"

namespace stepscope::cli {

// Whether it ran, and ended otherwise than with status 0.
bool has_failed(const ProgramEnd& end);

// "SIGKILL"; empty where it exited.
std::string ending_signal(const ProgramEnd& end);

// "ended with status 1", "was killed by signal 9"
std::string ending_text(const ProgramEnd& end);

// The same with what is known of the reason: the error that nobody caught, or what such a signal
// usually means. `job`: of Slurm; empty outside of one.
std::string ending_with_reason(const ProgramEnd& end, const std::string& error,
                               const std::string& job);

}  // namespace stepscope::cli
