// The runs that a server has at hand: the one given at the start, and those that clients chose
// below the root, the latest few. Each is read in the background from the first request for it on.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "server/loaded_run.h"

namespace stepscope::server {

// The folder below which clients may choose what to open. Names of runs are paths relative to it;
// what a name leads to, links followed, lies in the folder or is not there.

enum class EntryKind : std::uint8_t { kRun, kFolder, kFile };
std::string_view name_of(EntryKind kind);

// Something that can be opened or looked into.
struct RootEntry {
  std::string name;  // of the file or folder itself
  std::string path;  // below the root
  EntryKind kind = EntryKind::kFolder;
  std::uint64_t traces = 0;  // files with the name of a recording that lie in this folder itself
  std::optional<std::uint64_t> bytes;  // of a file
  std::int64_t modified_unix_ns = 0;
};

struct RootListing {
  std::vector<RootEntry> entries;  // in natural order
  std::uint64_t left_out = 0;      // beyond the most that are listed
};

class RootFolder {
 public:
  // Fails where there is no such folder.
  static base::Result<RootFolder> open(const std::string& path);

  const std::string& given() const { return given_; }  // as the user wrote it
  const std::string& path() const { return path_; }    // without links
  // The full path, without links, of a name; "." is the folder itself. Fails on names that are no
  // plain path below the folder, and where there is nothing, what lies outside, or what is neither
  // file nor folder: a pipe would be waited for.
  base::Result<std::string> path_of(std::string_view name) const;
  // What a folder of that name holds. Hidden files, and what cannot be a recording, are left out.
  base::Result<RootListing> list(std::string_view name) const;

 private:
  std::string given_, path_;
};

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
  // How far a run is that was asked for; nothing for others.
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
