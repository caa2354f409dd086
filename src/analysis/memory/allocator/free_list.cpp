#include "analysis/memory/allocator/free_list.h"

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

// Behind the place path_ leads to.
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

}  // namespace stepscope::analysis::allocator
