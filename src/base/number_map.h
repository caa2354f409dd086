// The hash table of this program: from 64-bit keys to 32-bit numbers, in one block of memory, since
// it is asked once per event. A key may also be the hash of something longer that the caller holds:
// then the caller says whether a number is that of the same thing.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace stepscope::base {

class NumberMap {
 public:
  static constexpr std::uint32_t kNone = 0xffffffff;

  struct Found {
    std::uint32_t& number;  // good until the next key comes
    bool is_new;
  };

  // The number of this key, which gets `fresh` if it has none yet.
  Found try_emplace(std::uint64_t key, std::uint32_t fresh) {
    return try_emplace(key, fresh, IsSame());
  }
  // The same of a hash: is_same(number) compares what was hashed.
  template <class Same>
  Found try_emplace(std::uint64_t hash, std::uint32_t fresh, const Same& is_same) {
    if (2 * (size_ + 1) > slots_.size()) grow();
    Slot& slot = slots_[place_of(hash, is_same)];
    if (slot.is_used) return {slot.number, false};
    slot = {hash, fresh, true};
    ++size_;
    return {slot.number, true};
  }

  // kNone where it has none.
  std::uint32_t find(std::uint64_t key) const {
    if (slots_.empty()) return kNone;
    const Slot& slot = slots_[place_of(key, IsSame())];
    return slot.is_used ? slot.number : kNone;
  }
  void set(std::uint64_t key, std::uint32_t number) { try_emplace(key, number).number = number; }
  void erase(std::uint64_t key);

  std::size_t size() const { return size_; }
  void clear() { *this = {}; }
  std::size_t memory() const { return slots_.capacity() * sizeof(Slot); }

 private:
  struct Slot {
    std::uint64_t key = 0;
    std::uint32_t number = 0;
    bool is_used = false;
  };
  struct IsSame {
    bool operator()(std::uint32_t) const { return true; }
  };

  // Where a search for the key begins.
  std::size_t home_of(std::uint64_t key) const {
    return (key ^ key >> 32) * 0x9e3779b97f4a7c15 >> shift_;
  }
  std::size_t next(std::size_t at) const { return (at + 1) & (slots_.size() - 1); }
  // Where it is, or the free slot where it would be.
  template <class Same>
  std::size_t place_of(std::uint64_t key, const Same& is_same) const {
    std::size_t at = home_of(key);
    while (slots_[at].is_used && (slots_[at].key != key || !is_same(slots_[at].number))) {
      at = next(at);
    }
    return at;
  }
  void grow();

  std::vector<Slot> slots_;  // a power of two of them, at least half of them free
  std::size_t size_ = 0;
  int shift_ = 0;  // the upper bits of a product say where a key stands
};

inline void NumberMap::erase(std::uint64_t key) {
  if (slots_.empty()) return;
  std::size_t hole = place_of(key, IsSame());
  if (!slots_[hole].is_used) return;
  --size_;
  // What stands later because its place was taken moves back, so that no search ends early.
  for (std::size_t at = next(hole); slots_[at].is_used; at = next(at)) {
    const std::size_t mask = slots_.size() - 1;
    if (((at - home_of(slots_[at].key)) & mask) < ((at - hole) & mask)) continue;
    slots_[hole] = slots_[at];
    hole = at;
  }
  slots_[hole] = {};
}

inline void NumberMap::grow() {
  constexpr std::size_t kFirstSlots = 64;
  const std::size_t size = slots_.empty() ? kFirstSlots : 2 * slots_.size();
  const std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(size));
  shift_ = 64 - std::countr_zero(size);
  for (const Slot& slot : old) {
    if (!slot.is_used) continue;
    std::size_t at = home_of(slot.key);  // keys that are hashes may be there twice
    while (slots_[at].is_used) at = next(at);
    slots_[at] = slot;
  }
}

}  // namespace stepscope::base
