// Works out the life of every allocation of a history, and counts its contradictions.
#include "analysis/memory/history/allocations.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/number_map.h"

namespace stepscope::analysis {
namespace {

using memory::Action;

// Until all are known, those older than the history are numbered apart.
constexpr AllocationId kOlder = AllocationId{1} << 31;

class AllocationsReader {
 public:
  AllocationsReader(const memory::Snapshot& snapshot, const memory::History& history)
      : snapshot_(snapshot), history_(history) {
    out_.of_event.assign(history.length(), kNoAllocation);
    bool completes = false;
    std::size_t allocations = 0;
    for (const Action action : history.action.span()) {
      completes |= action == Action::kFreeCompleted;
      requests_ |= action == Action::kFreeRequested;
      allocations += action == Action::kAlloc ? 1 : 0;
    }
    out_.list.reserve(allocations);
    // A short history may have none yet: then the blocks still wait.
    out_.let_go_is_free = requests_ && !completes && !is_waiting();
  }

  Allocations read() {
    for (std::uint32_t event = 0; event < history_.length(); ++event) {
      switch (history_.action[event]) {
        case Action::kAlloc:
          allocate(event);
          break;
        case Action::kFreeRequested:
        case Action::kFreeCompleted:
          give_back(event);
          break;
        default:
          break;
      }
    }
    compare_with_blocks();
    put_in_order();
    return std::move(out_);
  }

 private:
  bool is_waiting() const {
    return std::ranges::any_of(snapshot_.segments, [&](const memory::Segment& segment) {
      return segment.device == history_.device && segment.is_host == history_.is_host &&
             std::ranges::count(snapshot_.blocks_of(segment), memory::BlockState::kPendingFree,
                                &memory::Block::state) > 0;
    });
  }

  Allocation& life(AllocationId id) {
    return (id & kOlder) != 0 ? older_[id & ~kOlder] : out_.list[id];
  }

  void allocate(std::uint32_t event) {
    const std::uint64_t address = history_.address[event];
    if (const AllocationId current = at_.find(address); current != kNoAllocation) {
      ++out_.contradictions.reused_while_alive;
      life(current).end_unknown = true;
      life(current).freed = event;
    }
    const auto id = static_cast<AllocationId>(out_.list.size());
    Allocation& begun = out_.list.emplace_back(beginning(event));
    begun.alloc = event;
    begun.stack = history_.stack[event];
    at_.set(address, id);
    out_.of_event[event] = id;
  }

  void give_back(std::uint32_t event) {
    const std::uint64_t address = history_.address[event];
    const bool completes = history_.action[event] == Action::kFreeCompleted;
    AllocationId id = at_.find(address);
    if (id == kNoAllocation) {  // older than the history
      id = static_cast<AllocationId>(older_.size()) | kOlder;
      older_.push_back(beginning(event));
      older_.back().let_go_before = requests_ && completes;
      if (!completes) at_.set(address, id);
    }
    Allocation& ended = life(id);
    if (ended.requested != history_.size[event]) ++out_.contradictions.freed_size_differs;
    if (!completes) {
      if (ended.let_go != kNoEvent) ++out_.contradictions.let_go_twice;
      ended.let_go = event;
    } else if (requests_ && ended.let_go == kNoEvent && !ended.is_older()) {
      ++out_.contradictions.freed_without_let_go;
    }
    out_.of_event[event] = id;
    if (completes || out_.let_go_is_free) {
      ended.freed = event;
      at_.erase(address);
    }
  }

  Allocation beginning(std::uint32_t event) const {
    Allocation begun;
    begun.address = history_.address[event];
    begun.requested = history_.size[event];
    begun.stream = history_.stream[event];
    begun.pool = history_.pool[event];
    return begun;
  }

  // Those that no event ended, by address.
  std::vector<AllocationId> alive() {
    std::vector<AllocationId> found;
    for (AllocationId i = 0; i < older_.size(); ++i) {
      if (older_[i].is_alive_at_end()) found.push_back(i | kOlder);
    }
    for (AllocationId i = 0; i < out_.list.size(); ++i) {
      if (out_.list[i].is_alive_at_end()) found.push_back(i);
    }
    std::ranges::sort(found, {}, [&](AllocationId id) { return life(id).address; });
    return found;
  }

  // The active blocks of this history's allocator, by address.
  std::vector<std::pair<std::uint32_t, const memory::Segment*>> active_blocks() {
    std::vector<std::pair<std::uint32_t, const memory::Segment*>> blocks;
    for (const memory::Segment& segment : snapshot_.segments) {
      if (segment.device != history_.device || segment.is_host != history_.is_host) continue;
      out_.has_blocks = true;
      for (std::uint32_t b = segment.first_block; b < segment.first_block + segment.blocks; ++b) {
        const memory::BlockState state = snapshot_.blocks[b].state;
        if (state == memory::BlockState::kActive || state == memory::BlockState::kPendingFree) {
          blocks.emplace_back(b, &segment);
        }
      }
    }
    std::ranges::sort(blocks, {}, [&](const auto& block) {
      return std::pair(snapshot_.blocks[block.first].address, block.first);
    });
    return blocks;
  }

  void compare_with_blocks() {
    const auto blocks = active_blocks();
    if (!out_.has_blocks) return;
    const std::vector<AllocationId> alive = this->alive();
    std::size_t at = 0;
    for (const auto& [index, segment] : blocks) {
      const memory::Block& block = snapshot_.blocks[index];
      for (; at < alive.size() && life(alive[at]).address < block.address; ++at) lost(alive[at]);
      if (at < alive.size() && life(alive[at]).address == block.address) {
        Allocation& known = life(alive[at++]);
        if (block.requested != 0 && block.requested != known.requested) {
          ++out_.contradictions.block_size_differs;
        }
        complete(known, index, *segment);
      } else {
        Allocation untouched;  // by the history
        untouched.address = block.address;
        untouched.requested = block.requested != 0 ? block.requested : block.size;
        untouched.stream = segment->stream;
        untouched.let_go_before = block.state == memory::BlockState::kPendingFree;
        complete(untouched, index, *segment);
        older_.push_back(untouched);
      }
    }
    for (; at < alive.size(); ++at) lost(alive[at]);
  }

  void complete(Allocation& of, std::uint32_t index, const memory::Segment& segment) {
    of.block = index;
    if (of.pool == memory::kUnknownPool) of.pool = segment.pool;
    const bool without_stack = snapshot_.stacks[of.stack].empty();
    if (without_stack) of.stack = snapshot_.blocks[index].stack;
  }

  void lost(AllocationId id) {
    ++out_.contradictions.alive_without_block;
    life(id).end_unknown = true;
    life(id).freed = static_cast<std::uint32_t>(history_.length() - 1);
  }

  // The older ones by address; the others were begun in their order.
  void put_in_order() {
    out_.older = older_.size();
    if (!older_.empty()) {
      std::vector<AllocationId> order(older_.size());
      std::iota(order.begin(), order.end(), AllocationId{0});
      std::ranges::sort(order, {},
                        [&](AllocationId id) { return std::pair(older_[id].address, id); });
      std::vector<AllocationId> place(order.size());
      std::vector<Allocation> sorted;
      sorted.reserve(older_.size() + out_.list.size());
      for (AllocationId to = 0; to < order.size(); ++to) {
        place[order[to]] = to;
        sorted.push_back(older_[order[to]]);
      }
      sorted.insert(sorted.end(), out_.list.begin(), out_.list.end());
      out_.list = std::move(sorted);
      for (AllocationId& id : out_.of_event) {
        if (id == kNoAllocation) continue;
        id =
            (id & kOlder) != 0 ? place[id & ~kOlder] : id + static_cast<AllocationId>(order.size());
      }
    }
    for (const Allocation& one : out_.list) {
      if (one.is_older()) out_.older_bytes += one.requested;
      if (one.is_alive_at_end()) {
        ++out_.alive_at_end;
        out_.alive_at_end_bytes += one.requested;
      }
    }
  }

  const memory::Snapshot& snapshot_;
  const memory::History& history_;
  Allocations out_;
  base::NumberMap at_;             // from an address to the life that has it
  std::vector<Allocation> older_;  // in the order in which they were found
  bool requests_ = false;
};

}  // namespace

Allocations find_allocations(const memory::Snapshot& snapshot, const memory::History& history) {
  return AllocationsReader(snapshot, history).read();
}

std::vector<std::string> remarks_on(const Allocations& allocations,
                                    const memory::Snapshot& snapshot) {
  std::vector<std::string> remarks;
  if (snapshot.settings.history_overflowed.value_or(false)) {
    remarks.emplace_back(
        "The history was longer than the recording keeps: its oldest events were overwritten.");
  }
  const Contradictions& found = allocations.contradictions;
  const auto add_remark = [&](std::uint64_t count, std::string_view what) {
    if (count == 0) return;
    remarks.push_back(std::to_string(count) + (count == 1 ? " allocation " : " allocations ") +
                      std::string(what));
  };
  add_remark(found.reused_while_alive,
             "ended without an event that says so: the address was handed out again.");
  add_remark(
      found.alive_without_block,
      "ended without an event that says so: no block of the snapshot holds what was never freed.");
  add_remark(found.block_size_differs,
             "had another size in the history than in the snapshot's blocks.");
  add_remark(found.freed_size_differs, "had another size when freed than when asked for.");
  add_remark(found.let_go_twice, "came back twice.");
  add_remark(found.freed_without_let_go, "could be used again before the program gave them back.");
  if (allocations.let_go_is_free) {
    remarks.emplace_back(
        "The history does not say when freed memory could be used again; it is counted as free "
        "from the moment the program gave it back.");
  }
  return remarks;
}

std::vector<base::Bytes> live_bytes(const Allocations& allocations,
                                    const memory::History& history) {
  std::vector<base::Bytes> bytes(history.length());
  for (const Allocation& life : allocations.list) {
    if (!life.is_older()) bytes[life.alloc] += life.requested;
    if (!life.is_alive_at_end()) bytes[life.freed] -= life.requested;
  }
  base::Bytes now = allocations.older_bytes;
  for (base::Bytes& change : bytes) change = now += change;
  return bytes;
}

}  // namespace stepscope::analysis
