// The runs that a server has at hand: the one given at the start, and those that clients chose
// below the root, the latest few. Each is read in the background from the first request for it on.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "server/loaded_run.h"
#include "server/root_folder.h"

namespace stepscope::server {

struct ShelfOptions {
  std::vector<std::string>
      paths;  // of the run given at the start; may be empty where there is a root
  std::optional<RootFolder> root;
  session::OpenOptions open;
  std::string version;     // differs for each start
  LoadFailed failed = {};  // from any thread
};

class RunShelf {
 public:
  explicit RunShelf(ShelfOptions options);

  // The run of that name, "" the one given at the start; begins to read what is not at hand.
  // Fails with kNotFound or kInvalidArgument where there is no such run, with kLimit where too many
  // are being read.
  base::Result<std::shared_ptr<const RunLoader>> find(const std::string& name);
  // How far a run is that somebody asked for; nothing for others.
  std::optional<LoadState> state_of(const std::string& name) const;

  bool has_given() const { return given_ != nullptr; }
  const std::optional<RootFolder>& root() const { return options_.root; }
  const std::string& version() const { return options_.version; }

 private:
  struct Place {
    std::vector<std::string> names;  // links lead to one run by several names
    std::string path;
    std::shared_ptr<const RunLoader> loader;
    std::chrono::steady_clock::time_point begun;
  };

  std::shared_ptr<const RunLoader> known(const std::string& name);

  ShelfOptions options_;
  std::string given_path_;  // without links; empty where there are several
  std::shared_ptr<const RunLoader> given_;
  mutable std::mutex mutex_;
  std::vector<Place> places_;  // asked for last comes last
  std::uint64_t loaded_ = 0;
};

}  // namespace stepscope::server
