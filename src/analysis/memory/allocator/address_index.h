// From an address to a number. Open addressing in one array: it is asked once or twice per event
// of histories of millions.
#pragma once

#include <cstdint>
#include <vector>

namespace stepscope::analysis::allocator {

class AddressIndex {
 public:
  static constexpr std::uint32_t kNone = 0xffffffff;

  std::uint32_t find(std::uint64_t address) const {
    for (std::size_t i = home(address);; i = (i + 1) & mask_) {
      if (slots_[i].value == kNone) return kNone;
      if (slots_[i].address == address) return slots_[i].value;
    }
  }

  void set(std::uint64_t address, std::uint32_t value) {
    if (2 * (size_ + 1) > slots_.size()) grow();
    std::size_t i = home(address);
    while (slots_[i].value != kNone && slots_[i].address != address) i = (i + 1) & mask_;
    if (slots_[i].value == kNone) ++size_;
    slots_[i] = {address, value};
  }

  void erase(std::uint64_t address) {
    std::size_t hole = home(address);
    while (slots_[hole].value == kNone || slots_[hole].address != address) {
      if (slots_[hole].value == kNone) return;
      hole = (hole + 1) & mask_;
    }
    --size_;
    // What was pushed past the hole moves back, so that no search ends early.
    for (std::size_t i = (hole + 1) & mask_; slots_[i].value != kNone; i = (i + 1) & mask_) {
      const std::size_t wanted = home(slots_[i].address);
      if (((i - wanted) & mask_) < ((i - hole) & mask_)) continue;
      slots_[hole] = slots_[i];
      hole = i;
    }
    slots_[hole].value = kNone;
  }

  std::size_t size() const { return size_; }

 private:
  struct Slot {
    std::uint64_t address = 0;
    std::uint32_t value = kNone;
  };
  std::size_t home(std::uint64_t address) const {
    return static_cast<std::size_t>((address * 0x9e3779b97f4a7c15u) >> 32) & mask_;
  }
  void grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    mask_ = slots_.size() - 1;
    size_ = 0;
    for (const Slot& slot : old) {
      if (slot.value != kNone) set(slot.address, slot.value);
    }
  }

  std::vector<Slot> slots_ = std::vector<Slot>(64);
  std::size_t mask_ = 63, size_ = 0;
};

}  // namespace stepscope::analysis::allocator
