// Which files a list of paths means. Folders are searched in depth for names that recordings
// have; whether such a file is one is for its content to say (session/files/load.h).
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "trace/run.h"

namespace stepscope::session {

// The order in which people list files: rank2 before rank10. Total and the same on every machine,
// so that results do not depend on how a folder happens to be stored.

// Runs of digits compare as numbers, the rest by bytes; "a" sorts its folder's files together.
bool natural_less(std::string_view a, std::string_view b);

// What a folder holds, by name; and what a path leads to: for searches that must not leave a
// folder.

// Adds the names of all that lies in `folder`, in no order, at most `most`; errno, or 0. `within`
// holds it to a folder as bytes/beneath.h does; empty: anywhere.
int list_names(const std::string& folder, const std::string& within,
               std::vector<std::string>& names,
               std::size_t most = std::numeric_limits<std::size_t>::max());

// As ::stat, false where there is nothing or what lies outside of `within`.
bool look_at(const std::string& path, const std::string& within, struct stat& facts);

// Whether a path without links in it is the folder or lies in it.
bool is_within(std::string_view path, std::string_view folder);

struct FoundFile {
  std::string path;
  std::uint64_t bytes = 0;   // 0 for a pipe
  bool named = false;        // by the user: read whatever it looks like
  bool partial = false;      // its writer has not finished it: read as far as it goes
  std::size_t argument = 0;  // which of the paths led here
  std::string within = {};   // where it, and what lies beside it, must lie; empty: anywhere
};

struct Discovery {
  std::vector<FoundFile> files;               // in natural order, arguments first come first
  std::vector<trace::SkippedFile> skipped;    // left out by name
  std::vector<trace::FileFailure> failures;   // folders that could not be listed
  std::vector<std::string> earlier_attempts;  // folders of runs that were started again
};

// Fails when a path does not exist, when a named folder cannot be listed, and when it holds several
// runs that stepscope recorded, or two paths lead to one each. The same file found twice, also
// through links, counts once. Of the attempts of a run the last that has any files is taken; a run
// within a run is left out. `within`, a folder without links in its path, keeps the search inside
// of it: links that lead out are left out, also where they come between looking and opening.
base::Result<Discovery> discover(const std::vector<std::string>& paths,
                                 const std::string& within = {});

// Names a recording may have: *.json, *.pickle, *.pkl, also with .gz or .zst, *.pt.trace.json*,
// *.scope.
bool has_trace_name(std::string_view file_name);

}  // namespace stepscope::session
