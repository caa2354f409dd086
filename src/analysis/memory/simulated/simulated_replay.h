// An allocator that serves the recorded requests by its own lights.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/memory/allocator/caching.h"
#include "analysis/memory/simulated/simulated_requests.h"

namespace stepscope::analysis {

class RequestReplay {
 public:
  RequestReplay(const Requests& requests, const allocator::Rules& rules,
                std::optional<base::Bytes> limit);
  RequestReplay(const RequestReplay&) = delete;
  RequestReplay& operator=(const RequestReplay&) = delete;

  allocator::Caching& caching() { return caching_; }

  // What is older than the history lies where it lay, or is laid out afresh.
  void begin_as_recorded();
  void begin_afresh();

  // False: there was no room.
  bool take(AllocationId life) {
    const base::Bytes requested = requests_.requested[life];
    const base::Bytes rounded = rules_.rounded(requested);
    block_of_[life] = caching_.request(bin_of(life, rounded), requested, rounded, life);
    return block_of_[life] != allocator::kNoBlock;
  }
  void give_back(AllocationId life) {
    if (block_of_[life] == allocator::kNoBlock) return;
    caching_.complete_free(block_of_[life]);
    block_of_[life] = allocator::kNoBlock;
  }
  // What the program returned with these events.
  void release(std::size_t first, std::size_t end);

  std::uint64_t address_of(AllocationId life) const { return caching_[block_of_[life]].address; }

 private:
  std::uint32_t bin_of(AllocationId life, base::Bytes rounded) const {
    return bins_[2 * requests_.replay->bin_of[life] + (rules_.is_small(rounded) ? 1 : 0)];
  }

  const Requests& requests_;
  allocator::Rules rules_;
  allocator::Caching caching_;
  std::vector<std::uint32_t> bins_;           // by Replay::bins, large and small
  std::vector<allocator::BlockId> block_of_;  // by life
};

}  // namespace stepscope::analysis
