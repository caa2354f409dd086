// A run that is written to a disk of the node and moved to its folder when the program has ended.
// Commands of one launch on one node share a stage; the last to leave moves what is there, also
// what a command left that was killed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/program/launcher.h"

namespace stepscope::cli {

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
