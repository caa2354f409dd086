// The run of a program that was not recorded from within: its beginning, its end and what the
// machine did meanwhile, as `stepscope run` saw it. Written as stepscope.profile would
// (docs/formats/run-folder.md), so that everything can read it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/view.h"
#include "base/result.h"
#include "base/units.h"
#include "session/session.h"

namespace stepscope::session {

struct ProgramRun {
  std::vector<std::string> command;
  bool with_arguments = true;  // keep them
  std::string directory, host, version;
  std::string script;  // its whole path, or "-m MODULE"; empty: there is none among the words
  std::vector<std::pair<std::string, std::string>> array_task = {};  // variables of a job array
  std::int64_t rank = 0, local_rank = 0, world_size = 1;
  std::string launch;  // what the processes of this launch share
  std::vector<std::string> tags;
  std::string run_id;  // empty: taken from the script
  base::Nanos start_unix_ns = 0;
  base::Nanos wall_ns = 0, processor_ns = 0;
  std::optional<std::uint64_t> peak_bytes = {};  // nothing: too little to be measured
  int status = 0;                                // exit status; of a signal 128 and its number
  std::string signal;                            // that ended it: "SIGKILL"; empty: it exited
  std::string why_nothing;                       // why no training was recorded
};

// Into the rank.json of a rank that the program recorded itself: how the program ended, which a
// process that is killed cannot tell. Where there is none, none is made.
base::Status add_program_end(const ProgramRun& run, const std::string& rank_folder);

// The script of the run that is in the folder already; empty where there is none, or none of a
// script.
std::string script_in(const std::string& folder);

// Moves the folders in `recorded` (rank00000, node-HOST) into an attempt of the run in `folder`,
// both made where they are not there. Returns the rank's folder. Fails where that cannot be written
// or is another run's.
base::Result<std::string> keep_program_run(const ProgramRun& run, const std::string& recorded,
                                           const std::string& folder);

// Files moved from one disk to another, each whole or not at all.

struct MovedFiles {
  std::size_t files = 0;
  std::size_t left = 0;     // that stayed where they were
  std::string first_error;  // of those
};

// Everything below `from` to the same place below `to`. What is there already is not overwritten:
// a file of the same name and content is taken for moved, any other stays.
MovedFiles move_tree(const std::string& from, const std::string& to);

// How the processes of a run ended, by what they wrote down themselves.

// Where a rank did not end by itself: "rank 3 was killed, or still runs". Empty where all did, and
// where it was not written down: traces alone do not know.
std::string bad_end_of(const OpenedRun& recording, const analysis::Selection& selection);

}  // namespace stepscope::session
