// What the command itself can record of a program, whatever it is written in: its beginning and
// end, and the machine meanwhile. It is kept where nothing inside of the program recorded more.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "cli/program/launcher.h"
#include "session/program/program_run.h"

namespace stepscope::cli {

class ProgramWatch {
 public:
  explicit ProgramWatch(const Launcher& launcher) : launcher_(launcher) {}
  ProgramWatch(const ProgramWatch&) = delete;
  ProgramWatch& operator=(const ProgramWatch&) = delete;
  ~ProgramWatch() { drop(); }

  // The program runs. `hz`: how often the machine is measured; 0: not at all. Where no temporary
  // folder can be written, nothing is recorded.
  void begin(double hz);
  // Every second or so: who measures the machine may have ended before the others.
  void look();
  // The program has ended: what was recorded is whole.
  void end();
  // It is not needed: somebody else records.
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
  double hz_when_first_ = 0;  // of those who wait: when no lower local rank is at work any more
  int looks_ = 0;
};

}  // namespace stepscope::cli
