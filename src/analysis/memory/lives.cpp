#include "analysis/memory/lives.h"

#include <algorithm>
#include <utility>

namespace stepscope::analysis {
namespace {

using memory::Action;

struct Touch {
  std::uint64_t address;
  std::uint32_t event;
  auto operator<=>(const Touch&) const = default;
};

bool is_of_a_life(Action action) {
  return action == Action::kAlloc || action == Action::kFreeRequested ||
         action == Action::kFreeCompleted;
}

// The events that begin or end lives, by address and then in their order: what happened at one
// address stands together.
std::vector<Touch> touches_of(const memory::History& history) {
  std::vector<Touch> touches;
  touches.reserve(history.length());
  for (std::size_t i = 0; i < history.length(); ++i) {
    if (is_of_a_life(history.action[i])) {
      touches.push_back({history.address[i], static_cast<std::uint32_t>(i)});
    }
  }
  std::ranges::sort(touches);
  return touches;
}

class Reader {
 public:
  Reader(const memory::Snapshot& snapshot, const memory::History& history)
      : snapshot_(snapshot), history_(history) {
    out_.of_event.assign(history.length(), kNoLife);
    bool completes = false;
    for (const Action action : history.action.span()) {
      completes |= action == Action::kFreeCompleted;
      requests_ |= action == Action::kFreeRequested;
    }
    // A short history may have none yet: then the blocks still wait.
    out_.let_go_is_free = requests_ && !completes && !is_waiting();
  }

  Lives read() {
    const std::vector<Touch> touches = touches_of(history_);
    for (std::size_t i = 0; i < touches.size(); ++i) {
      if (i > 0 && touches[i].address != touches[i - 1].address) close_address();
      apply(touches[i]);
    }
    close_address();
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

  void apply(const Touch& touch) {
    const Action action = history_.action[touch.event];
    const base::Bytes size = history_.size[touch.event];
    if (action == Action::kAlloc) {
      if (current_ != kNoLife) {
        ++out_.contradictions.reused_while_alive;
        out_.list[current_].end_unknown = true;
        out_.list[current_].freed = touch.event;
      }
      begin(touch, size);
      out_.list[current_].alloc = touch.event;
      out_.list[current_].stack = history_.stack[touch.event];
    } else {
      if (current_ == kNoLife) {  // older than the history
        begin(touch, size);
        out_.list[current_].let_go_before = requests_ && action == Action::kFreeCompleted;
      }
      Life& life = out_.list[current_];
      if (life.requested != size) ++out_.contradictions.freed_size_differs;
      if (action == Action::kFreeRequested) {
        if (life.let_go != kNoEvent) ++out_.contradictions.let_go_twice;
        life.let_go = touch.event;
      } else if (requests_ && life.let_go == kNoEvent && !life.is_older()) {
        ++out_.contradictions.freed_without_let_go;
      }
    }
    out_.of_event[touch.event] = current_;
    if (action == Action::kFreeCompleted ||
        (action == Action::kFreeRequested && out_.let_go_is_free)) {
      out_.list[current_].freed = touch.event;
      current_ = kNoLife;
    }
  }

  void begin(const Touch& touch, base::Bytes size) {
    Life life;
    life.address = touch.address;
    life.requested = size;
    life.stream = history_.stream[touch.event];
    life.pool = history_.pool[touch.event];
    current_ = static_cast<LifeId>(out_.list.size());
    out_.list.push_back(life);
  }

  void close_address() {
    if (current_ != kNoLife) alive_.push_back(current_);  // in the order of addresses
    current_ = kNoLife;
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
    std::size_t at = 0;
    for (const auto& [index, segment] : blocks) {
      const memory::Block& block = snapshot_.blocks[index];
      for (; at < alive_.size() && out_.list[alive_[at]].address < block.address; ++at) lost(at);
      if (at < alive_.size() && out_.list[alive_[at]].address == block.address) {
        Life& life = out_.list[alive_[at++]];
        if (block.requested != 0 && block.requested != life.requested) {
          ++out_.contradictions.block_size_differs;
        }
        complete(life, index, *segment);
      } else {
        Life life;  // never touched by the history
        life.address = block.address;
        life.requested = block.requested != 0 ? block.requested : block.size;
        life.stream = segment->stream;
        life.let_go_before = block.state == memory::BlockState::kPendingFree;
        complete(life, index, *segment);
        out_.list.push_back(life);
      }
    }
    for (; at < alive_.size(); ++at) lost(at);
  }

  void complete(Life& life, std::uint32_t index, const memory::Segment& segment) {
    life.block = index;
    if (life.pool == memory::kUnknownPool) life.pool = segment.pool;
    const bool without_stack = snapshot_.stacks[life.stack].empty();
    if (without_stack) life.stack = snapshot_.blocks[index].stack;
  }

  void lost(std::size_t at) {
    ++out_.contradictions.alive_without_block;
    Life& life = out_.list[alive_[at]];
    life.end_unknown = true;
    life.freed = static_cast<std::uint32_t>(history_.length() - 1);
  }

  void put_in_order() {
    std::vector<LifeId> order(out_.list.size());
    for (LifeId id = 0; id < order.size(); ++id) order[id] = id;
    // kNoEvent + 1 is 0: the older ones come first.
    std::ranges::sort(order, {}, [&](LifeId id) {
      const Life& life = out_.list[id];
      return std::pair(life.alloc + 1, life.address);
    });
    std::vector<LifeId> place(order.size());
    std::vector<Life> sorted(order.size());
    for (LifeId to = 0; to < order.size(); ++to) {
      place[order[to]] = to;
      sorted[to] = out_.list[order[to]];
    }
    out_.list = std::move(sorted);
    for (LifeId& id : out_.of_event) {
      if (id != kNoLife) id = place[id];
    }
    for (const Life& life : out_.list) {
      if (life.is_older()) {
        ++out_.older;
        out_.older_bytes += life.requested;
      }
      if (life.is_alive_at_end()) {
        ++out_.alive_at_end;
        out_.alive_at_end_bytes += life.requested;
      }
    }
  }

  const memory::Snapshot& snapshot_;
  const memory::History& history_;
  Lives out_;
  LifeId current_ = kNoLife;   // at the address being read
  std::vector<LifeId> alive_;  // at the end, by address
  bool requests_ = false;
};

}  // namespace

Lives make_lives(const memory::Snapshot& snapshot, const memory::History& history) {
  return Reader(snapshot, history).read();
}

std::vector<std::string> remarks_on(const Lives& lives, const memory::Snapshot& snapshot) {
  std::vector<std::string> remarks;
  if (snapshot.settings.history_overflowed.value_or(false)) {
    remarks.emplace_back(
        "The history was longer than the recording keeps: its oldest events were overwritten.");
  }
  const Contradictions& found = lives.contradictions;
  const auto say = [&](std::uint64_t count, std::string_view what) {
    if (count == 0) return;
    remarks.push_back(std::to_string(count) + (count == 1 ? " allocation " : " allocations ") +
                      std::string(what));
  };
  say(found.reused_while_alive,
      "ended without an event that says so: the address was handed out again.");
  say(found.alive_without_block,
      "ended without an event that says so: no block of the snapshot holds what was never freed.");
  say(found.block_size_differs, "had another size in the history than in the snapshot's blocks.");
  say(found.freed_size_differs, "had another size when freed than when asked for.");
  say(found.let_go_twice, "came back twice.");
  say(found.freed_without_let_go, "could be used again before the program gave them back.");
  if (lives.let_go_is_free) {
    remarks.emplace_back(
        "The history does not say when freed memory could be used again; it is counted as free "
        "from the moment the program gave it back.");
  }
  return remarks;
}

std::vector<base::Bytes> live_bytes(const Lives& lives, const memory::History& history) {
  std::vector<base::Bytes> bytes(history.length());
  for (const Life& life : lives.list) {
    if (!life.is_older()) bytes[life.alloc] += life.requested;
    if (!life.is_alive_at_end()) bytes[life.freed] -= life.requested;
  }
  base::Bytes now = lives.older_bytes;
  for (base::Bytes& change : bytes) change = now += change;
  return bytes;
}

}  // namespace stepscope::analysis
