#include "analysis/memory/allocator/caching.h"

#include <algorithm>

namespace stepscope::analysis::allocator {
namespace {

// Address space of an expandable segment: torch takes a little more than the device has.
constexpr Bytes kReserve = Bytes{1} << 44;

std::uint64_t up(std::uint64_t address, Bytes unit) {
  const auto step = static_cast<std::uint64_t>(unit);
  return (address + step - 1) / step * step;
}

}  // namespace

Caching::Caching(const Rules& rules, std::optional<Bytes> limit)
    : rules_(rules), limit_(limit), blocks_(rules_, watcher_) {}

void Caching::Watcher::offered(BlockId id, const Block& block) {
  Lists& list = lists[block.bin];
  if (block.use == Use::kUnmapped) {
    list.unmapped[block.address] = id;
    return;
  }
  list.free.insert(block.size, block.address, id);
  if (since.size() <= id) since.resize(id + 1);
  since[id] = searches;
}

void Caching::Watcher::withdrawn(BlockId, const Block& block) {
  Lists& list = lists[block.bin];
  if (block.use == Use::kUnmapped) {
    list.unmapped.erase(block.address);
  } else {
    list.free.erase(block.size, block.address);
  }
}

std::uint32_t Caching::bin(const Bin& bin) {
  const auto [at, is_new] =
      bins_.try_emplace(bin, static_cast<std::uint32_t>(watcher_.lists.size()));
  if (is_new) watcher_.lists.emplace_back().bin = bin;
  return at->second;
}

void Caching::watch_split_sizes(std::span<const Bytes> others) {
  same_splits_.assign(others.begin(), others.end());
  least_split_ = rules_.max_split_size;
  for (const Bytes size : same_splits_) least_split_ = std::min(least_split_, size);
}

template <class Decision>
void Caching::keep_same_splits(Bytes size, Decision decision) {
  if (same_splits_.empty() || size < least_split_) return;
  const bool decided = decision(rules_);
  std::erase_if(same_splits_, [&](Bytes split) {
    Rules other = rules_;
    other.max_split_size = split;
    return decision(other) != decided;
  });
}

BlockId Caching::best_fit(std::uint32_t bin, Bytes rounded) {
  const FreeList& free = watcher_.lists[bin].free;
  FreeList::Place at = free.first_of(rounded);
  if (free.is_end(at)) return kNoBlock;
  if (blocks_[free.id(at)].expandable) {
    if (rules_.expandable_segments) {
      // A block that can grow counts with the size it can grow to.
      const auto room = [&](FreeList::Place place) {
        const Block& block = blocks_[free.id(place)];
        const bool grows = block.next != kNoBlock && blocks_[block.next].use == Use::kUnmapped;
        return block.size + (grows ? blocks_[block.next].size : 0);
      };
      for (FreeList::Place next = free.next(at);
           blocks_[free.id(at)].expandable && !free.is_end(next) && room(next) < room(at);
           next = free.next(next)) {
        at = next;
      }
    } else {
      while (!free.is_end(at) && blocks_[free.id(at)].expandable) at = free.next(at);
      if (free.is_end(at)) return kNoBlock;
    }
  }
  const Bytes size = free.size_at(at);
  keep_same_splits(size, [&](const Rules& rules) { return rules.spares(size, rounded); });
  return rules_.spares(size, rounded) ? kNoBlock : free.id(at);
}

BlockId Caching::request(std::uint32_t bin, Bytes requested, Bytes rounded, std::uint32_t holder) {
  const Bin of = watcher_.lists[bin].bin;
  if (!of.is_small && of.pool == 0) ++watcher_.searches;
  BlockId id = best_fit(bin, rounded);
  if (id == kNoBlock) {
    if (rules_.collect_above > 0 && limit_) collect();
    id = take_new(bin, rounded);
    if (id == kNoBlock && release_oversized(bin, rounded)) id = take_new(bin, rounded);
    if (id == kNoBlock) {
      ++retries;
      release_cached(0);
      id = take_new(bin, rounded);
    }
  }
  if (id == kNoBlock) return kNoBlock;
  const Block& block = blocks_[id];
  keep_same_splits(block.size, [&](const Rules& rules) {
    return rules.cuts(block.size, rounded, block.small, block.expandable);
  });
  blocks_.take(id, requested, rounded, holder);
  return id;
}

bool Caching::would_fit(std::uint32_t bin, Bytes requested) {
  const Bytes rounded = rules_.rounded(requested);
  if (best_fit(bin, rounded) != kNoBlock || !limit_) return true;
  Bytes returnable = 0;
  for (const Lists& list : watcher_.lists) {
    if (list.bin.pool != 0) continue;
    for (auto at = list.free.begin(); !list.free.is_end(at); at = list.free.next(at)) {
      const Block& block = blocks_[list.free.id(at)];
      if (!block.expandable) {
        if (!block.has_neighbours()) returnable += block.size;
        continue;
      }
      returnable += pages_of(block).second;
    }
  }
  Bytes needed = rules_.segment_for(rounded);
  if (rules_.expandable_segments) {
    const Bytes page = rules_.page(watcher_.lists[bin].bin.is_small);
    needed = static_cast<Bytes>(up(static_cast<std::uint64_t>(rounded), page));
  }
  return reserved() - returnable + needed <= *limit_;
}

BlockId Caching::take_new(std::uint32_t bin, Bytes rounded) {
  const bool small = watcher_.lists[bin].bin.is_small;
  const Bytes size = rules_.segment_for(rounded);
  if (rules_.expandable_segments) return expand(bin, rounded);
  if (!has_room(size)) return kNoBlock;
  const std::uint64_t address = next_address(size);
  const BlockId id = blocks_.add_segment(address, size, small, bin);
  heads_[address] = id;
  note(DriverAction::kAlloc, address, size);
  return id;
}

BlockId Caching::room_in_reserves(std::uint32_t bin, Bytes rounded) const {
  for (const auto& [address, unmapped] : watcher_.lists[bin].unmapped) {
    const BlockId before = blocks_[unmapped].previous;
    const BlockId first =
        before != kNoBlock && blocks_[before].use == Use::kFree ? before : unmapped;
    Bytes room = 0;
    for (BlockId id = first; room < rounded && is_available(id); id = blocks_[id].next) {
      room += blocks_[id].size;
    }
    if (room >= rounded) return first;
  }
  return kNoBlock;
}

BlockId Caching::expand(std::uint32_t bin, Bytes rounded) {
  BlockId id = room_in_reserves(bin, rounded);
  if (id == kNoBlock) {
    const std::uint64_t address = expected_.empty() ? next_address(kReserve) : expected_.front();
    id = blocks_.reserve(address, kReserve, watcher_.lists[bin].bin.is_small, bin);
    heads_[address] = id;
  }
  if (blocks_[id].use == Use::kUnmapped) id = map(id, std::min(blocks_[id].size, rounded));
  while (id != kNoBlock && blocks_[id].size < rounded) {
    const BlockId next = blocks_[id].next;
    id = map(next, std::min(rounded - blocks_[id].size, blocks_[next].size));
  }
  return id;
}

BlockId Caching::map(BlockId id, Bytes size) {
  const Block block = blocks_[id];
  const auto pages =
      std::min(block.size,
               static_cast<Bytes>(up(static_cast<std::uint64_t>(size), rules_.page(block.small))));
  if (!has_room(pages)) return kNoBlock;
  note(DriverAction::kMap, block.address, pages);
  return blocks_.map(id, pages);
}

bool Caching::release_oversized(std::uint32_t bin, Bytes rounded) {
  same_splits_.clear();  // how much is returned depends on the size itself
  if (rules_.max_split_size == kNoLimit) return false;
  const FreeList& free = watcher_.lists[bin].free;
  const Bytes wanted = std::max(rounded, rules_.max_split_size);
  if (const auto at = free.first_of(wanted); !free.is_end(at) && !blocks_[free.id(at)].expandable) {
    release_block(free.id(at));
    return true;
  }
  // No single one is large enough: several, the largest first.
  Bytes released = 0;
  while (released < wanted && !free.empty()) {
    const BlockId last = free.id(free.last());
    if (blocks_[last].size < rules_.max_split_size || blocks_[last].expandable) break;
    released += blocks_[last].size;
    release_block(last);
  }
  return released >= wanted;
}

// Returns unused segments, those unused for longer than average, while more is held than wanted.
void Caching::collect() {
  const auto threshold = static_cast<Bytes>(rules_.collect_above * static_cast<double>(*limit_));
  Bytes target = reserved() - threshold;
  if (target <= 0) return;
  std::vector<BlockId> whole;
  for (const Lists& list : watcher_.lists) {
    if (list.bin.is_small || list.bin.pool != 0) continue;
    for (auto at = list.free.begin(); !list.free.is_end(at); at = list.free.next(at)) {
      const BlockId id = list.free.id(at);
      if (!blocks_[id].has_neighbours() && !blocks_[id].expandable) whole.push_back(id);
    }
  }
  const auto age = [&](BlockId id) { return watcher_.searches - watcher_.since[id]; };
  while (target > 0 && !whole.empty()) {
    std::uint64_t ages = 0;
    for (const BlockId id : whole) ages += age(id);
    const double mean = static_cast<double>(ages) / static_cast<double>(whole.size());
    std::vector<BlockId> young;
    for (const BlockId id : whole) {
      if (static_cast<double>(age(id)) >= mean) {
        target -= blocks_[id].size;
        release_block(id);
      } else {
        young.push_back(id);
      }
    }
    if (young.size() == whole.size()) break;
    whole = std::move(young);
  }
}

void Caching::release_block(BlockId id) {
  const Block block = blocks_[id];
  note(DriverAction::kFree, block.address, block.size);
  heads_.erase(block.address);
  blocks_.remove_segment(id);
}

std::pair<std::uint64_t, Bytes> Caching::pages_of(const Block& block) const {
  const Bytes page = rules_.page(block.small);
  const std::uint64_t from = block.base + up(block.address - block.base, page);
  const auto step = static_cast<std::uint64_t>(page);
  const std::uint64_t to = block.base + (block.end() - block.base) / step * step;
  return {from, to > from ? static_cast<Bytes>(to - from) : 0};
}

void Caching::unmap_pages(BlockId id) {
  const auto [from, size] = pages_of(blocks_[id]);
  if (size == 0) return;
  note(DriverAction::kUnmap, from, size);
  blocks_.unmap(id, from, size);
}

void Caching::release_cached(std::uint16_t pool) {
  for (const bool small : {false, true}) {
    std::vector<BlockId> segments, pages;
    for (const Lists& list : watcher_.lists) {
      if (list.bin.pool != pool || list.bin.is_small != small) continue;
      for (auto at = list.free.begin(); !list.free.is_end(at); at = list.free.next(at)) {
        const BlockId id = list.free.id(at);
        if (blocks_[id].expandable) {
          pages.push_back(id);
        } else if (!blocks_[id].has_neighbours()) {
          segments.push_back(id);
        }
      }
    }
    for (const BlockId id : segments) release_block(id);
    for (const BlockId id : pages) unmap_pages(id);
  }
}

bool Caching::release_segment(std::uint64_t address) {
  const auto head = heads_.find(address);
  if (head == heads_.end()) return false;
  const Block& block = blocks_[head->second];
  if (block.use != Use::kFree || block.has_neighbours() || block.expandable) return false;
  release_block(head->second);
  return true;
}

void Caching::begin_segment(std::uint64_t address, Bytes size, std::uint32_t bin) {
  heads_[address] = blocks_.add_segment(address, size, watcher_.lists[bin].bin.is_small, bin);
}
void Caching::begin_reserve(std::uint64_t address, std::uint32_t bin) {
  heads_[address] = blocks_.reserve(address, kReserve, watcher_.lists[bin].bin.is_small, bin);
}
void Caching::begin_mapped(std::uint64_t address, Bytes size, std::uint32_t bin) {
  const auto& unmapped = watcher_.lists[bin].unmapped;
  auto at = unmapped.upper_bound(address);
  if (at == unmapped.begin()) return;
  BlockId id = std::prev(at)->second;
  if (blocks_[id].address < address) {
    id = blocks_.cut_at(id, static_cast<Bytes>(address - blocks_[id].address));
  }
  blocks_.map(id, size);
}

BlockId Caching::begin_block(std::uint64_t address, Bytes size, Bytes requested,
                             std::uint32_t holder) {
  const auto after = heads_.upper_bound(address);
  if (after == heads_.begin()) return kNoBlock;
  BlockId id = std::prev(after)->second;
  // From the one before, if it lies in the same segment: else this would be quadratic.
  if (laid_out_ != kNoBlock && blocks_[laid_out_].address <= address &&
      blocks_[laid_out_].address >= blocks_[id].address) {
    id = laid_out_;
  }
  while (id != kNoBlock && blocks_[id].end() <= address) id = blocks_[id].next;
  if (id == kNoBlock || blocks_[id].use != Use::kFree || blocks_[id].address > address ||
      blocks_[id].end() < address + static_cast<std::uint64_t>(size)) {
    return kNoBlock;
  }
  if (blocks_[id].address < address) {
    id = blocks_.cut_at(id, static_cast<Bytes>(address - blocks_[id].address));
  }
  if (blocks_[id].size > size) blocks_.cut_at(id, size);
  blocks_.take(id, requested, size, holder);
  laid_out_ = id;
  return id;
}

std::uint64_t Caching::next_address(Bytes size) {
  if (!expected_.empty()) {
    const std::uint64_t address = expected_.front();
    expected_.erase(expected_.begin());
    return address;
  }
  const std::uint64_t address = rising_;
  rising_ += up(static_cast<std::uint64_t>(size), kSmallSegment) + kSmallSegment;
  return address;
}

void Caching::note(DriverAction action, std::uint64_t address, Bytes size) {
  if (action == DriverAction::kAlloc || action == DriverAction::kMap) {
    ++driver_allocs;
  } else {
    ++driver_frees;
  }
  if (calls != nullptr) calls->push_back({action, address, size});
}

}  // namespace stepscope::analysis::allocator
