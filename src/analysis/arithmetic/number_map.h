// A table from 64-bit keys to 32-bit numbers: open addressing in one block of memory, because it is
// asked once per event. Entries are never removed.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace stepscope::analysis {

class NumberMap {
 public:
  struct Found {
    std::uint32_t& number;  // good until the next key comes
    bool is_new;
  };

  // The number of this key, which gets `fresh` if it has none yet.
  Found try_emplace(std::uint64_t key, std::uint32_t fresh) {
    if (2 * (size_ + 1) > slots_.size()) grow();
    Slot& slot = find(key);
    if (slot.used) return {slot.number, false};
    slot = {key, fresh, true};
    ++size_;
    return {slot.number, true};
  }
  std::size_t size() const { return size_; }

 private:
  struct Slot {
    std::uint64_t key = 0;
    std::uint32_t number = 0;
    bool used = false;
  };

  // The slot of this key, or the free one where it would be.
  Slot& find(std::uint64_t key) {
    std::size_t at = (key ^ key >> 32) * 0x9e3779b97f4a7c15 >> shift_;
    while (slots_[at].used && slots_[at].key != key) at = (at + 1) & (slots_.size() - 1);
    return slots_[at];
  }
  void grow() {
    constexpr std::size_t kLeast = 64;
    const std::size_t size = slots_.empty() ? kLeast : 2 * slots_.size();
    const std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(size));
    shift_ = 64 - std::countr_zero(size);
    for (const Slot& slot : old) {
      if (slot.used) find(slot.key) = slot;
    }
  }

  std::vector<Slot> slots_;  // a power of two of them, half free
  std::size_t size_ = 0;
  int shift_ = 0;  // the upper bits of a product say where a key stands
};

}  // namespace stepscope::analysis
