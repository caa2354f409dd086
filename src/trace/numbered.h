// Different texts, numbered in the order in which they come, and handed over as a list. A trace may
// have a million of them (an operator called with new shapes each time), so the table has no place
// of its own in memory for each: the standard's take several times as long. base::StringPool copies
// text to stay; here views and ids are numbered, too.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stepscope::trace {

inline std::string_view bytes_of(std::string_view text) { return text; }
template <std::size_t kSize>
std::string_view bytes_of(const std::array<std::uint32_t, kSize>& ids) {
  return {reinterpret_cast<const char*>(ids.data()), sizeof(ids)};
}

// Text is what bytes_of() takes. Views must outlive this.
template <class Text>
class Numbered {
 public:
  struct Place {
    std::uint32_t number;
    bool is_new;
  };

  Place place(Text text) {
    if (2 * (texts_.size() + 1) > slots_.size()) grow();
    const std::uint64_t hash = std::hash<std::string_view>()(bytes_of(text));
    Slot& slot = slots_[slot_of(
        hash, [&](std::uint32_t id) { return bytes_of(texts_[id]) == bytes_of(text); })];
    if (slot.id != kNone) return {slot.id, false};
    slot = {hash, static_cast<std::uint32_t>(texts_.size())};
    texts_.push_back(std::move(text));
    return {slot.id, true};
  }

  // In order; they are gone from here.
  std::vector<Text> take() {
    slots_.clear();
    return std::exchange(texts_, {});
  }

 private:
  static constexpr std::uint32_t kNone = 0xffffffff;
  static constexpr std::size_t kFirstSlots = 256;
  struct Slot {
    std::uint64_t hash = 0;
    std::uint32_t id = kNone;
  };

  // Where it is, or the free one where it belongs.
  template <class Same>
  std::size_t slot_of(std::uint64_t hash, Same same) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = hash & mask;
    while (slots_[at].id != kNone && (slots_[at].hash != hash || !same(slots_[at].id))) {
      at = (at + 1) & mask;
    }
    return at;
  }

  void grow() {
    const std::vector<Slot> old =
        std::exchange(slots_, std::vector<Slot>(slots_.empty() ? kFirstSlots : 2 * slots_.size()));
    for (const Slot& slot : old) {
      if (slot.id == kNone) continue;
      slots_[slot_of(slot.hash, [](std::uint32_t) { return false; })] = slot;
    }
  }

  std::vector<Slot> slots_;  // a power of two
  std::vector<Text> texts_;
};

}  // namespace stepscope::trace
