// What the command itself can record of a program, whatever it is written in: its beginning and
// end, and the machine meanwhile. It is kept where nothing inside of the program recorded more.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/program/launcher.h"
#include "session/program/program_run.h"

namespace stepscope::cli {

// What the processes of a program reported to the command that started it: a file for each, a line
// for each fact. Written by python/stepscope/launched.

// An exception that was not caught.
struct ProcessError {
  int process = 0;
  std::int64_t unix_ns = 0;
  std::string text;  // "ValueError: loss is nan"
};

struct ProgramNotes {
  int pythons = 0;                 // that loaded the hook
  int with_torch = 0;              // of them, that imported torch
  bool records_itself = false;     // stepscope.profile was there already
  std::vector<std::string> runs;   // folders; each once
  std::vector<std::string> ranks;  // folders of processes that record, in the stage if there is one
  std::vector<ProcessError> errors;
  std::vector<std::string> problems;  // what could not be recorded, and warnings; each once
};

ProgramNotes read_notes(const std::string& folder);

// Why nothing was recorded, as the end of a sentence. `end`: of a program that failed ("was killed
// by signal 9"); empty where it did not.
std::string why_nothing(const ProgramNotes& notes, const std::vector<std::string>& words,
                        const std::string& end);

// The error that ended the program whose first process this is; empty where none is known.
std::string error_of_program(const ProgramNotes& notes, int process, std::int64_t end_unix_ns);

class ProgramWatch {
 public:
  explicit ProgramWatch(const Launcher& launcher) : launcher_(launcher) {}
  ProgramWatch(const ProgramWatch&) = delete;
  ProgramWatch& operator=(const ProgramWatch&) = delete;
  ~ProgramWatch() { drop(); }

  // The program runs. `hz`: how often the machine is measured; 0: not at all. Where no temporary
  // folder can be written, nothing is recorded.
  void begin(double hz);
  // Every second or so: the command that samples the machine may have ended before the others.
  void look();
  // The program has ended: what was recorded is whole.
  void end();
  // It is not needed: the program records by itself.
  void drop();
  bool is_on() const { return !folder_.empty(); }
  // Returns the folder of this rank.
  base::Result<std::string> keep(const session::ProgramRun& run, const std::string& folder);

 private:
  void start_system(double hz);
  void measure(double hz);
  void stop_system();
  void take_own_samples();

  const Launcher& launcher_;
  std::string meeting_;  // of the commands of a launch on this machine; empty: none
  std::string node_;     // the machine's folder; empty: it is not measured
  std::string folder_;   // where it is recorded until it is kept; empty: nowhere
  bool is_running_ = false;
  double hz_when_first_ = 0;  // of commands that wait: when no lower local rank is at work any more
  int looks_ = 0;
};

}  // namespace stepscope::cli
