#include "analysis/memory/simulated.h"

#include <algorithm>
#include <set>

#include "analysis/memory/allocator/caching.h"

namespace stepscope::analysis {
namespace {

using allocator::Bin;
using allocator::BlockId;
using allocator::Caching;
using allocator::DriverAction;
using allocator::DriverCall;
using allocator::kNoBlock;
using allocator::Rules;
using base::Bytes;
using memory::Action;
using memory::History;

bool takes(Action action) {
  return action == Action::kSegmentAlloc || action == Action::kSegmentMap;
}
bool returns(Action action) {
  return action == Action::kSegmentFree || action == Action::kSegmentUnmap;
}

// Where returns that follow each other end.
std::size_t run_end(const History& history, std::size_t first) {
  std::size_t end = first;
  while (end < history.length() && returns(history.action[end])) ++end;
  return end;
}

// Whether the allocator itself returned segments, to make room: then the request it needs room for
// comes next, and the same call did both.
bool makes_room(const History& history, std::size_t first, std::size_t end) {
  if (end >= history.length()) return false;
  if (history.action[end] == Action::kOom) return true;
  return takes(history.action[end]) && history.stack[first] != memory::kNoStack &&
         history.stack[first] == history.stack[end];
}

DriverCall call_at(const History& history, std::size_t event) {
  DriverAction action = DriverAction::kAlloc;
  switch (history.action[event]) {
    case Action::kSegmentFree:
      action = DriverAction::kFree;
      break;
    case Action::kSegmentMap:
      action = DriverAction::kMap;
      break;
    case Action::kSegmentUnmap:
      action = DriverAction::kUnmap;
      break;
    default:
      break;
  }
  return {action, history.address[event], history.size[event]};
}

// One pass over the recorded requests.
class Replay {
 public:
  Replay(const History& history, const Lives& lives, const Followed& followed, const Rules& rules,
         std::optional<Bytes> limit)
      : history_(history),
        lives_(lives),
        followed_(followed),
        rules_(rules),
        caching_(rules, limit),
        has_limit_(limit.has_value()),
        block_of_(lives.list.size(), kNoBlock) {
    for (const Bin& bin : followed.bins) {
      for (const bool small : {false, true}) {
        bins_.push_back(caching_.bin({bin.stream, bin.pool, small}));
      }
    }
  }

  Caching& caching() { return caching_; }

  std::uint32_t bin_of(LifeId life) const {
    const bool small = rules_.is_small(rules_.rounded(lives_.list[life].requested));
    return bins_[2 * followed_.bin_of[life] + (small ? 1 : 0)];
  }

  void begin_as_recorded() {
    const auto bin = [&](const SegmentPlace& place) {
      return caching_.bin({place.stream, place.pool, place.is_small});
    };
    for (const SegmentPlace& place : followed_.before.segments) {
      caching_.begin_segment(place.address, place.size, bin(place));
    }
    for (const SegmentPlace& place : followed_.before.reserves) {
      const bool had_memory =
          std::ranges::any_of(followed_.before.mapped,
                              [&](const SegmentPlace& part) { return bin(part) == bin(place); });
      if (had_memory) caching_.begin_reserve(place.address, bin(place));
    }
    for (const SegmentPlace& place : followed_.before.mapped) {
      caching_.begin_mapped(place.address, place.size, bin(place));
    }
    for (LifeId id = 0; id < lives_.older; ++id) {
      const Life& life = lives_.list[id];
      begin(id, caching_.begin_block(life.address, followed_.block_size[id], life.requested, id));
    }
    caching_.begin_here();
  }

  void begin_afresh() {
    for (LifeId id = 0; id < lives_.older; ++id) {
      begin(id, caching_.request(bin_of(id), lives_.list[id].requested, id));
    }
    caching_.begin_here();
    caching_.driver_allocs = caching_.driver_frees = caching_.retries = 0;
  }

  // False: there was no room.
  bool allocate(std::size_t event) {
    const LifeId life = lives_.of_event[event];
    block_of_[life] = caching_.request(bin_of(life), history_.size[event], life);
    return block_of_[life] != kNoBlock;
  }

  void let_go(std::size_t event) {
    const LifeId life = lives_.of_event[event];
    if (life == kNoLife || block_of_[life] == kNoBlock) return;
    if (caching_[block_of_[life]].use == allocator::Use::kInUse) {
      caching_.request_free(block_of_[life]);
    }
    if (lives_.let_go_is_free) complete(event);
  }
  void complete(std::size_t event) {
    const LifeId life = lives_.of_event[event];
    if (life == kNoLife || block_of_[life] == kNoBlock) return;
    caching_.complete_free(block_of_[life]);
    block_of_[life] = kNoBlock;
  }

  // Pools of CUDA graphs are returned only once their graphs are gone, which the record shows.
  void release(std::size_t first, std::size_t end) {
    std::set<std::uint16_t> pools = {0};
    for (std::size_t i = first; i < end; ++i) {
      if (history_.pool[i] != memory::kUnknownPool) pools.insert(history_.pool[i]);
    }
    for (const std::uint16_t pool : pools) caching_.release_cached(pool);
  }

  std::uint64_t address_of(std::size_t event) const {
    return caching_[block_of_[lives_.of_event[event]]].address;
  }

  Simulated run() {
    Simulated out;
    begin_afresh();
    for (std::size_t i = 0; i < history_.length(); ++i) {
      switch (history_.action[i]) {
        case Action::kAlloc:
          out.failed += allocate(i) ? 0 : 1;
          break;
        case Action::kFreeRequested:
          let_go(i);
          break;
        case Action::kFreeCompleted:
          complete(i);
          break;
        case Action::kSegmentFree:
        case Action::kSegmentUnmap: {
          const std::size_t end = run_end(history_, i);
          if (!has_limit_ || !makes_room(history_, i, end)) release(i, end);
          i = end - 1;
          break;
        }
        case Action::kOom: {
          const Bin bin{
              history_.stream[i],
              history_.pool[i] == memory::kUnknownPool ? std::uint16_t{0} : history_.pool[i],
              rules_.is_small(rules_.rounded(history_.size[i]))};
          out.ooms_served += caching_.would_fit(caching_.bin(bin), history_.size[i]) ? 1 : 0;
          break;
        }
        default:
          break;
      }
    }
    using allocator::Stat;
    const allocator::Statistics& stats = caching_.statistics();
    out.peak_reserved = stats(Stat::kReservedBytes).peak;
    out.end_reserved = stats(Stat::kReservedBytes).current;
    out.peak_active = stats(Stat::kActiveBytes).peak;
    out.peak_segments = stats(Stat::kSegment).peak;
    out.driver_allocs = caching_.driver_allocs;
    out.driver_frees = caching_.driver_frees;
    out.retries = caching_.retries;
    return out;
  }

 private:
  void begin(LifeId id, BlockId block) {
    block_of_[id] = block;
    const Life& life = lives_.list[id];
    const bool was_let_go =
        life.let_go == kNoEvent && life.freed != kNoEvent && !lives_.let_go_is_free;
    if (block != kNoBlock && was_let_go) caching_.request_free(block);
  }

  const History& history_;
  const Lives& lives_;
  const Followed& followed_;
  Rules rules_;
  Caching caching_;
  bool has_limit_;
  std::vector<std::uint32_t> bins_;  // by Followed::bins, large and small
  std::vector<BlockId> block_of_;    // by life
};

// Whether the driver is asked for the same as recorded, event by event.
class Comparison {
 public:
  Comparison(const History& history, const Lives& lives, const Followed& followed)
      : history_(history), rules_(followed.rules), replay_(history, lives, followed, rules_, {}) {}

  Reproduction run() {
    replay_.begin_as_recorded();
    replay_.caching().calls = &made_;
    for (std::size_t i = 0; i < history_.length() && out_.why.empty(); ++i) {
      const Action action = history_.action[i];
      if (takes(action)) {
        recorded_.push_back(call_at(history_, i));
        replay_.caching().expect(history_.address[i]);
      } else if (returns(action)) {
        const std::size_t end = run_end(history_, i);
        compare_returns(i, end);
        i = end - 1;
      } else if (action == Action::kAlloc) {
        compare_request(i);
      } else if (action == Action::kFreeRequested) {
        replay_.let_go(i);
      } else if (action == Action::kFreeCompleted) {
        replay_.complete(i);
      }
    }
    out_.is_same = out_.why.empty();
    return std::move(out_);
  }

 private:
  void depart(std::size_t event, std::string why) {
    out_.first_departure = static_cast<std::uint32_t>(event);
    out_.why = std::move(why);
  }

  void compare_request(std::size_t event) {
    made_.clear();
    replay_.allocate(event);
    if (made_.size() < recorded_.size()) {
      depart(event, "memory was taken from the driver though a free block fits");
    } else if (made_.size() > recorded_.size()) {
      depart(event, "a cached block was used though none fits");
    } else if (made_ != recorded_) {
      depart(event, "another amount of memory was taken from the driver");
    } else if (replay_.address_of(event) != history_.address[event]) {
      ++out_.other_places;
    }
    out_.driver_calls += recorded_.size();
    recorded_.clear();
    replay_.caching().expect_nothing();
  }

  void compare_returns(std::size_t first, std::size_t end) {
    out_.driver_calls += end - first;
    std::vector<DriverCall> returned;
    for (std::size_t i = first; i < end; ++i) returned.push_back(call_at(history_, i));
    made_.clear();
    const bool chooses = rules_.collect_above > 0 || rules_.max_split_size != allocator::kNoLimit;
    if (chooses) {
      // Which ones go depends on the driver's state: taken as recorded, if they can go at all.
      for (const DriverCall& call : returned) replay_.caching().release_segment(call.address);
    } else {
      replay_.release(first, end);
    }
    std::ranges::sort(returned);
    std::ranges::sort(made_);
    if (made_ != returned) depart(first, "other segments were returned to the driver");
  }

  const History& history_;
  Rules rules_;
  Replay replay_;
  std::vector<DriverCall> made_, recorded_;
  Reproduction out_;
};

}  // namespace

Reproduction reproduce(const History& history, const Lives& lives, const Followed& followed) {
  if (!followed.is_exact()) {
    Reproduction out;
    out.first_departure = followed.doubts.first_event;
    out.why = "the recorded history and the allocator's rules do not agree";
    return out;
  }
  return Comparison(history, lives, followed).run();
}

std::optional<Limit> limit_seen(const History& history, const Followed& followed) {
  std::optional<Bytes> limit;
  const auto refused = [&](Bytes at_most) { limit = std::min(limit.value_or(at_most), at_most); };
  // A collector makes room long before the driver refuses.
  const bool collects = followed.rules.collect_above > 0;
  Bytes reserved = followed.start.reserved;
  for (std::size_t i = 0; i < history.length(); ++i) {
    const Action action = history.action[i];
    if (takes(action)) {
      reserved += history.size[i];
    } else if (returns(action)) {
      const std::size_t end = run_end(history, i);
      if (!collects && makes_room(history, i, end) && takes(history.action[end])) {
        refused(reserved + history.size[end] - 1);
      }
      for (; i < end; ++i) reserved -= history.size[i];
      --i;
    } else if (action == Action::kOom) {
      // What the driver has free is not the limit where the process may use only a share of it.
      const auto driver_free = static_cast<Bytes>(
          std::min(history.address[i], static_cast<std::uint64_t>(allocator::kNoLimit / 2)));
      const Bytes asked = followed.rules.segment_for(followed.rules.rounded(history.size[i]));
      refused(reserved + std::min(driver_free, asked - 1));
    }
  }
  if (!limit) return std::nullopt;
  const Bytes had = followed.peak_reserved.reserved;
  return Limit{had, std::max(*limit, had)};
}

Simulated simulate(const History& history, const Lives& lives, const Followed& followed,
                   const Rules& rules, std::optional<Bytes> limit) {
  return Replay(history, lives, followed, rules, limit).run();
}

Bytes least_possible(const History& history, const Lives& lives, const Rules& rules) {
  Bytes now = 0;
  for (std::size_t id = 0; id < lives.older; ++id) now += rules.rounded(lives.list[id].requested);
  Bytes most = now;
  for (std::size_t i = 0; i < history.length(); ++i) {
    const LifeId life = lives.of_event[i];
    if (life == kNoLife) continue;
    if (lives.list[life].alloc == i) now += rules.rounded(lives.list[life].requested);
    if (lives.list[life].freed == i) now -= rules.rounded(lives.list[life].requested);
    most = std::max(most, now);
  }
  return most;
}

}  // namespace stepscope::analysis
