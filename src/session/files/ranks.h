// Which rank each file belongs to. A file that says its rank is believed; then names decide, then
// the order of the names. Pure functions of what was read, so that every rule can be tested.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/notes.h"
#include "session/session.h"

namespace stepscope::session {

// The rank a path spells out: rank3, rank_3, rank-00003, worker3, _r3_ in the file's name, else
// rank3 or worker3 in the name of a folder above it, the nearest first. Not local_rank3, nor the
// process id of worker-123.scope.
std::optional<std::int32_t> rank_in_path(std::string_view path);

struct RankedFile {
  std::string path;
  std::optional<std::int64_t> header_rank;
  std::string host = {};  // as the file says; may be empty
};

enum class RankSource : std::uint8_t {
  kHeader,
  kRankFolder,  // of a run folder: as good as said by the file
  kFileName,
  kOrder,
};

struct RankChoice {
  std::int32_t rank = 0;
  RankSource source = RankSource::kOrder;
};

// One choice per file; the files must be in natural order. Files that neither say nor spell a rank
// get one each from a number at the end of their names when all of them have one (trace_3.json),
// else the lowest free ones, in order. TensorBoard's WORKER.TIME.pt.trace.json of one worker
// are one rank.
std::vector<RankChoice> choose_ranks(const std::vector<RankedFile>& files);

// Whether that was nothing but an order, and nothing explains that files are of different times:
// neither several machines nor names that count the windows of a process.
bool are_ranks_by_order_alone(const std::vector<RankedFile>& files,
                              const std::vector<RankChoice>& choices);

// When a file was recorded, on the wall clock.
struct WindowSpan {
  std::string path;
  std::int64_t start_ns = 0, end_ns = 0;
  std::int32_t rank = 0;
};

// Two files of one rank that were recorded at the same time, so one process cannot have written
// both: the first such pair as text, empty if there is none. The windows must be by start.
std::string overlap_in(const std::vector<WindowSpan>& windows);

// So far apart the clocks of badly kept machines may be.
inline constexpr std::int64_t kClocksApart = 600'000'000'000;
// The same where nothing but their order makes files ranks, so that they may as well be separate
// runs of one machine: to start a program takes longer, and clocks of a cluster agree better.
inline constexpr std::int64_t kByOrderApart = 2'000'000'000;

// Two ranks of which one was recorded that long after the other was over, as those of one run are
// not, with the time between them; empty if there are none. One span for each rank.
std::string apart_in(const std::vector<WindowSpan>& ranks, std::int64_t least_gap = kClocksApart);
// The same of a rank that was recorded once with others, and again long before or after all of
// them. A span for each window, of two ranks or more.
std::string alone_in(std::vector<WindowSpan> windows);

// What ranks wrote down about their own recording, beside what they recorded.

// Whether stepscope wrote this file for that.
bool is_rank_record(const std::string& path);

// Reads it; where it cannot be used it is among the files that were left out, with the reason.
void add_rank_record(const std::string& path, const std::string& within, OpenedRun& recording);

}  // namespace stepscope::session
