// What is said about a followed history: what is assumed, what does not fit.
#include "analysis/memory/replay/replay.h"

namespace stepscope::analysis {
namespace {

std::string many(std::uint64_t count, std::string_view one, std::string_view more) {
  return std::to_string(count) + " " + std::string(count == 1 ? one : more);
}

}  // namespace

std::vector<std::string> remarks_on(const Replay& replay) {
  std::vector<std::string> remarks;
  if (!replay.is_whole) {
    remarks.push_back(
        "the recorded history does not begin with an empty allocator: what was there before is "
        "worked out backwards from the snapshot, and peaks and totals are of the recorded part");
  }
  if (replay.assumed_sizes > 0) {
    remarks.push_back(
        many(replay.assumed_sizes, "allocation is", "allocations are") +
        " from before the history and freed in it: their blocks are taken as the request rounded "
        "up; each may have been up to 1 MiB larger");
  }
  const ReplayDoubts& doubts = replay.doubts;
  if (doubts.all() == 0) return remarks;
  std::string what;
  const auto add = [&](std::uint64_t count, std::string_view one, std::string_view more) {
    if (count > 0) what += (what.empty() ? "" : ", ") + many(count, one, more);
  };
  add(doubts.not_at_a_free_block, "allocation where no free block begins",
      "allocations where no free block begins");
  add(doubts.block_too_small, "allocation larger than its free block",
      "allocations larger than their free block");
  add(doubts.outside_segments, "allocation outside every known segment",
      "allocations outside every known segment");
  add(doubts.still_in_use, "segment returned while in use", "segments returned while in use");
  add(doubts.unknown_segment, "segment event at an unknown place",
      "segment events at unknown places");
  add(doubts.at_the_end, "block of the snapshot that differs",
      "blocks of the snapshot that differ");
  remarks.push_back("the recorded history and the allocator's rules do not agree (" + what +
                    "): sizes of blocks, reserved and unused memory are approximate");
  return remarks;
}

}  // namespace stepscope::analysis
