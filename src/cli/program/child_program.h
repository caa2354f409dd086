// Another program, run to its end as if we were not there: same streams, same process group, same
// signals. Signals that the terminal sends reach it without us; those that other processes send to
// us are passed on.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"

namespace stepscope::cli {

struct ProgramEnd {
  int start_error = 0;  // errno, where it could not be started
  int process = 0;
  int status = 0;  // as waitpid has it
  base::Nanos wall_ns = 0;
  base::Nanos processor_ns = 0;  // of it and of what it waited for
  // Of the largest process among them; nothing: no more than `forked_bytes`, which the program's
  // process had as a copy of this one, before it was the program's.
  std::optional<std::uint64_t> peak_bytes = {};
  std::uint64_t forked_bytes = 0;
};

// What goes on beside the program. Both may start threads that block signals.
struct Beside {
  std::function<void()> started = {};  // once, when it runs
  std::function<bool()> look = {};     // every second, until it says false
};

// `environment` holds "NAME=value". Must be called before other threads are made.
ProgramEnd run_to_end(const std::vector<std::string>& words,
                      const std::vector<std::string>& environment, const Beside& beside = {});

// Ends this process as the program ended: with its status, or by its signal.
[[noreturn]] void end_like(const ProgramEnd& end);

// How a program ended, in words for its user.

// Whether it ran, and ended otherwise than with status 0.
bool has_failed(const ProgramEnd& end);

// "SIGKILL"; empty where it exited.
std::string ending_signal(const ProgramEnd& end);

// "ended with status 1", "was killed by signal 9"
std::string ending_text(const ProgramEnd& end);

// The same with what is known of the reason: the error that was not caught, or what such a signal
// usually means. `job`: of Slurm; empty outside of one.
std::string ending_with_reason(const ProgramEnd& end, const std::string& error,
                               const std::string& job);

}  // namespace stepscope::cli
