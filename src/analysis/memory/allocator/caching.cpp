// An allocator that works as torch's caching allocator does, with other settings if wanted.
#include "analysis/memory/allocator/caching.h"

#include <algorithm>

namespace stepscope::analysis::allocator {
namespace {

template <class T, std::size_t kWidth>
void open(std::array<T, kWidth>& items, std::uint32_t count, std::uint32_t at, const T& item) {
  std::move_backward(items.begin() + at, items.begin() + count, items.begin() + count + 1);
  items[at] = item;
}

template <class T, std::size_t kWidth>
void close(std::array<T, kWidth>& items, std::uint32_t count, std::uint32_t at) {
  std::move(items.begin() + at + 1, items.begin() + count, items.begin() + at);
}

}  // namespace

std::uint32_t FreeList::below(const Key* keys, std::uint32_t count, Key key) {
  const Key* from = keys;
  while (count > 1) {
    const std::uint32_t half = count / 2;
    if (from[half - 1] < key) from += half;
    count -= half;
  }
  return static_cast<std::uint32_t>(from - keys) + (count == 1 && *from < key ? 1 : 0);
}

std::uint32_t FreeList::leaf_for(Key key) const {
  std::uint32_t node = root_;
  for (std::uint32_t level = height_; level > 0; --level) {
    node = inners_[node].children[child_for(inners_[node], key)];
  }
  return node;
}

std::uint32_t FreeList::path_to(Key key) {
  path_.clear();
  std::uint32_t node = root_;
  for (std::uint32_t level = height_; level > 0; --level) {
    path_.push_back({node, child_for(inners_[node], key)});
    node = inners_[node].children[path_.back().at];
  }
  return node;
}

FreeList::Place FreeList::first_of(Bytes least) const {
  const Key key = key_of(least, 0);
  const std::uint32_t leaf = leaf_for(key);
  return at_or_after({leaf, below(leaves_[leaf].keys.data(), leaves_[leaf].count, key)});
}

FreeList::Place FreeList::last() const {
  std::uint32_t node = root_;
  for (std::uint32_t level = height_; level > 0; --level) {
    node = inners_[node].children[inners_[node].count - 1];
  }
  return {node, leaves_[node].count - 1};
}

void FreeList::insert(Bytes size, std::uint64_t address, BlockId id) {
  const Key key = key_of(size, address);
  std::uint32_t leaf = leaf_for(key);
  if (leaves_[leaf].count == kWidth) {
    path_to(key);
    const std::uint32_t upper = split_leaf(leaf);
    const Key border = leaves_[upper].keys[0];
    add_child(border, upper);
    if (key >= border) leaf = upper;
  }
  Leaf& into = leaves_[leaf];
  const std::uint32_t at = below(into.keys.data(), into.count, key);
  open(into.keys, into.count, at, key);
  open(into.ids, into.count, at, id);
  ++into.count;
  ++size_;
}

void FreeList::erase(Bytes size, std::uint64_t address) {
  const Key key = key_of(size, address);
  const std::uint32_t leaf = leaf_for(key);
  Leaf& from = leaves_[leaf];
  const std::uint32_t at = below(from.keys.data(), from.count, key);
  close(from.keys, from.count, at);
  close(from.ids, from.count, at);
  --from.count;
  --size_;
  if (from.count == 0 && height_ > 0) {
    path_to(key);
    drop_leaf(leaf);
  }
}

// The upper half becomes a leaf of its own.
std::uint32_t FreeList::split_leaf(std::uint32_t leaf) {
  std::uint32_t upper = static_cast<std::uint32_t>(leaves_.size());
  if (unused_leaves_.empty()) {
    leaves_.emplace_back();
  } else {
    upper = unused_leaves_.back();
    unused_leaves_.pop_back();
  }
  Leaf& low = leaves_[leaf];
  Leaf& high = leaves_[upper];
  low.count = kWidth / 2;
  high.count = kWidth - kWidth / 2;
  std::copy_n(low.keys.begin() + low.count, high.count, high.keys.begin());
  std::copy_n(low.ids.begin() + low.count, high.count, high.ids.begin());
  high.previous = leaf;
  high.next = low.next;
  if (high.next != kNone) leaves_[high.next].previous = upper;
  low.next = upper;
  return upper;
}

std::uint32_t FreeList::new_inner() {
  if (unused_inners_.empty()) {
    inners_.emplace_back();
    return static_cast<std::uint32_t>(inners_.size() - 1);
  }
  const std::uint32_t inner = unused_inners_.back();
  unused_inners_.pop_back();
  return inner;
}

// After the place path_ leads to.
void FreeList::add_child(Key key, std::uint32_t child) {
  while (!path_.empty()) {
    const Step step = path_.back();
    path_.pop_back();
    if (inners_[step.inner].count < kWidth) {
      Inner& inner = inners_[step.inner];
      open(inner.keys, inner.count, step.at + 1, key);
      open(inner.children, inner.count, step.at + 1, child);
      ++inner.count;
      return;
    }
    const std::uint32_t upper = new_inner();
    Inner& low = inners_[step.inner];
    Inner& high = inners_[upper];
    low.count = kWidth / 2;
    high.count = kWidth - kWidth / 2;
    std::copy_n(low.keys.begin() + low.count, high.count, high.keys.begin());
    std::copy_n(low.children.begin() + low.count, high.count, high.children.begin());
    const bool goes_up = step.at >= low.count;
    Inner& into = goes_up ? high : low;
    const std::uint32_t at = step.at + 1 - (goes_up ? low.count : 0);
    open(into.keys, into.count, at, key);
    open(into.children, into.count, at, child);
    ++into.count;
    key = high.keys[0];
    child = upper;
  }
  // The root was cut in two.
  const std::uint32_t top = new_inner();
  Inner& root = inners_[top];
  root.count = 2;
  root.keys[1] = key;
  root.children[0] = root_;
  root.children[1] = child;
  root_ = top;
  ++height_;
}

// The empty leaf path_ leads to, and the nodes that only led to it.
void FreeList::drop_leaf(std::uint32_t leaf) {
  const Leaf& gone = leaves_[leaf];
  if (gone.previous != kNone) {
    leaves_[gone.previous].next = gone.next;
  } else {
    first_ = gone.next;
  }
  if (gone.next != kNone) leaves_[gone.next].previous = gone.previous;
  unused_leaves_.push_back(leaf);
  while (!path_.empty()) {
    const Step step = path_.back();
    path_.pop_back();
    Inner& inner = inners_[step.inner];
    close(inner.keys, inner.count, step.at);
    close(inner.children, inner.count, step.at);
    if (--inner.count > 0) break;
    unused_inners_.push_back(step.inner);
  }
  while (height_ > 0 && inners_[root_].count == 1) {
    unused_inners_.push_back(root_);
    root_ = inners_[root_].children[0];
    --height_;
  }
}

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
