// The folder that a run goes into: what is known of it before the program starts, and what others
// wrote into it meanwhile.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/program/launcher.h"

namespace stepscope::cli {

// "Not a directory"; empty: nothing is known that keeps the folder from being made and written.
std::string why_not_writable(const std::string& folder);

// A folder that only one run has: it is made at once, so that a program which starts in the same
// second goes into another.
class OwnFolder {
 public:
  OwnFolder() = default;
  OwnFolder(const OwnFolder&) = delete;
  OwnFolder& operator=(const OwnFolder&) = delete;
  // Nothing was written into it: as if it had never been there.
  ~OwnFolder();

  // What is appended to the name to make it a new one: "", "-2", "-3". Where none can be made, ""
  // as well: why_not_writable says why.
  std::string claim(const std::string& folder);

 private:
  std::vector<std::string> made_;  // the innermost last
};

// Of a rank's folder, RUN/attempt-N/rank00000.
std::optional<std::uint64_t> attempt_of_rank(const std::string& rank_folder);

// The largest number of an attempt in the folder of a run; nothing where it has none.
std::optional<std::uint64_t> last_attempt(const std::string& run);

// The folders of ranks in attempts that were made, or got another rank, since then.
std::vector<std::string> ranks_since(const std::string& folder,
                                     std::filesystem::file_time_type since);

// New folders for what is needed until the command ends.

// TMPDIR, or where programs without one put their files.
std::string temporary_place();

// A new folder that begins with this name; empty where none can be made.
std::string make_temporary_folder(std::string_view name);

// With all that is in it.
void remove_folder(const std::string& folder);

// A run that is written to a disk of the node and moved to its folder when the program has ended.
// Commands of one launch on one node share a stage; the last to leave moves what is there, also
// what a command left that was killed.

struct StageEnd {
  bool is_shared = false;               // others on this node still write: the last of them moves
  std::vector<std::string> moved = {};  // run folders that are complete
  std::vector<std::string> problems = {};
};

class Stage {
 public:
  Stage() = default;
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;
  ~Stage();

  // Below TMPDIR, named by where the run goes. Fails where that cannot be written.
  base::Status open(const std::string& folder, const Launcher& launcher);
  bool is_open() const { return lock_ >= 0; }
  const std::string& folder() const { return folder_; }

  // Moves everything to its place. `patient`: waits some seconds for others on this node.
  StageEnd finish(bool patient);

 private:
  bool is_last(bool patient);

  std::string folder_;
  int lock_ = -1;
};

}  // namespace stepscope::cli
