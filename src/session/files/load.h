// Reads many files at once. Threads and memory are shared out by size: many files are read side by
// side, few of them are split inside. What comes back does not depend on the number of threads.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "memory/snapshot.h"
#include "memory/stats.h"
#include "memory/timeline.h"
#include "series/node.h"
#include "session/files/discover.h"
#include "session/session.h"
#include "trace/run.h"

namespace stepscope::session {

struct NotRead {};  // reading stopped before its turn
struct NoRecording {
  std::string why;
};

// What became of a file.
using LoadedFile = std::variant<NotRead, NoRecording, base::Error, trace::Window, memory::Snapshot,
                                memory::Timeline, memory::Stats, series::Node>;

// Fails only where an option is no good: what is wrong with a file is in its place.
base::Result<std::vector<LoadedFile>> load(const std::vector<FoundFile>& files,
                                           const OpenOptions& options);

// What a recording process wrote down beside its snapshot: memory-0-addresses.json says where
// the parameters, gradients and optimizer state of memory-0.pickle lie (docs/formats/addresses.md).

// "memory-0-addresses.json" for "memory-0.pickle" and "memory-0.pickle.gz"; empty for "-".
std::string addresses_beside(std::string_view snapshot_path);

// Takes the file beside the snapshot where there is one; one that cannot be used is noted.
void add_known_addresses(const std::string& snapshot_path, memory::Snapshot& snapshot,
                         const std::string& within = {});

// Whether a JSON file that happens to lie in a folder is a trace. Only files that were not named
// are asked: a configuration or a memory snapshot beside the traces must not fail the run.

// How much of the text reason_to_skip wants. Writers put metadata before the events, and the
// process groups of a large job alone fill hundreds of kilobytes.
inline constexpr std::size_t kContentPrefixBytes = std::size_t{1} << 20;

// The reason for what stepscope itself wrote beside its recordings: run.json, a report.
inline constexpr std::string_view kOwnFile = "written by stepscope";

// Why the file is no trace, from the beginning of its text; empty when it may be one. `whole` says
// that the text is complete. A file that was cut short, even to nothing, may be a trace: its loss
// is for the reader to report.
std::string reason_to_skip(std::string_view text, bool whole);

}  // namespace stepscope::session
