// The folder below which clients may choose what to open. Names of runs are paths relative to it;
// what a name leads to, links followed, lies in the folder or is not there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stepscope::server {

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

}  // namespace stepscope::server
