// Which files a list of paths means. Folders are searched in depth for names that recordings
// have; whether such a file is one is for its content to say (session/files/content.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "trace/run.h"

namespace stepscope::session {

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
