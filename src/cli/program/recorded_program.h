// One program that `stepscope run` starts: from its start to the lines about it at the end.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/program/child_program.h"
#include "cli/program/launcher.h"
#include "cli/program/program_watch.h"
#include "cli/program/run_place.h"
#include "session/config/config_file.h"
#include "session/program/program_run.h"

namespace stepscope::cli {

class RecordedProgram {
 public:
  RecordedProgram(const Context& context, const session::Config& config);

  // To its end.
  ProgramEnd run();
  // What was recorded, and what was not.
  void tell();

 private:
  bool can_hook() const {
    return !package_.empty() && !notes_folder_.empty() && folder_problem_.empty();
  }
  std::vector<std::string> environment() const;
  double sampling_hz() const;
  bool shows_report() const;
  bool is_still_alone();
  std::string choose_folder();
  void look_at_folder();
  void warn_of_others(const std::string& folder) const;
  void open_stage();
  void leave_stage();
  std::string why_not_recorded() const;
  void keep_own();
  void keep_end();
  session::ProgramRun facts() const;
  void show_runs();
  std::uint64_t own_attempt(const std::string& run) const;
  std::string shown_path(const std::string& run) const;
  void tell_attempt(const std::string& run) const;
  void tell_end() const;
  void show_anemoi_reports(const std::string& run);

  const Context& context_;
  const session::Config& config_;
  const std::vector<std::string>& words_;
  Launcher launcher_;
  ProgramWatch watch_;
  OwnFolder own_folder_;
  Stage stage_;
  std::string stage_problem_;
  std::string folder_problem_;  // why the run's folder cannot be written
  std::string package_, notes_folder_, folder_, own_launch_;
  std::filesystem::file_time_type started_;
  ProgramEnd end_;
  ProgramNotes notes_;
  session::ProgramRun run_;
  std::string why_;
  bool is_elsewhere_ = false;  // the run is not in its folder yet
};

}  // namespace stepscope::cli
