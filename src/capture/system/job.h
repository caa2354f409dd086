// The processes of the job on this node: those that said so in the node's folder, and all that
// they started. Each process that records leaves a file there, and writes no other.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "capture/system/source.h"
#include "capture/system/text_file.h"

namespace stepscope::capture {

using Variables = std::map<std::string, std::string>;

struct JobProcess {
  int pid = 0;
  std::int64_t rank = 0;
  std::int64_t local_rank = 0;
  Variables devices = {};          // variables that say which devices it was given
  std::vector<int> children = {};  // all that it started, and they; by number
};

// What says which devices a process was given, as it is in the environment now.
Variables device_variables();

// The processes of the job as last seen; does not change.
struct JobView {
  std::vector<JobProcess> processes = {};  // by rank
  std::map<int, std::int64_t> ranks = {};  // of all of them and their children

  // Nothing: not of the job.
  std::optional<std::int64_t> rank_of(int pid) const;
};

// Where other threads than the one that looks find it.
class JobBoard {
 public:
  void show(std::shared_ptr<const JobView> view) {
    const std::lock_guard lock(mutex_);
    view_ = std::move(view);
  }
  std::shared_ptr<const JobView> view() const {
    const std::lock_guard lock(mutex_);
    return view_;
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const JobView> view_ = std::make_shared<const JobView>();
};

class Job {
 public:
  Job(SystemPlace place, std::string folder)
      : place_(std::move(place)), folder_(std::move(folder)) {}

  // This process is of the job. Fails where the folder cannot be written.
  base::Status announce(std::int64_t rank, std::int64_t local_rank, const Variables& devices) const;
  void withdraw() const;

  // Looks which processes are there now.
  void refresh();
  // Whether one of them has started or lost a child since they were looked at; costs far less than
  // to look.
  bool has_changed();
  // Whether a process has announced itself since they were looked at.
  bool has_newcomers() const;
  // This process announced itself, and the machine does not show it.
  bool is_hidden() const { return is_hidden_; }
  const std::vector<JobProcess>& processes() const { return view_->processes; }  // by rank
  std::optional<std::int64_t> rank_of(int pid) const { return view_->rank_of(pid); }
  // Ranks whose process was there and is gone, and did not take leave.
  const std::set<std::int64_t>& lost() const { return lost_; }
  std::shared_ptr<const JobBoard> board() const { return board_; }
  // The process that started it, as last seen; 0: not known.
  int parent_of(int pid) const;

 private:
  void find_lost(const std::string& file_name);
  std::optional<JobProcess> read(const std::string& file_name) const;
  void find_children(std::vector<JobProcess>& processes);
  std::optional<std::string_view> list_of_children(int pid);

  SystemPlace place_;
  std::string folder_;
  std::shared_ptr<const JobView> view_ = std::make_shared<const JobView>();
  std::shared_ptr<JobBoard> board_ = std::make_shared<JobBoard>();
  std::vector<std::string> announcements_;     // names of files, as last seen; sorted
  std::map<std::string, std::int64_t> known_;  // ranks of those that were there, by name of file
  std::set<std::int64_t> lost_;
  std::map<int, int> parents_;  // of every process of the machine, as last seen
  struct OwnChildren {
    TextFile file;
    std::string last;  // when they were looked at
  };
  std::map<int, OwnChildren> own_children_;  // by process
  bool is_hidden_ = false;
};

}  // namespace stepscope::capture
