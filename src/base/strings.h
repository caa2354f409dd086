// Interned text. A StringPool is filled by one thread while reading; a StringTable is what is left
// afterwards: immutable, dense ids, one block of characters.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stepscope::base {

using StringId = std::uint32_t;
inline constexpr StringId kNoString = 0xffffffff;

class StringTable {
 public:
  StringTable() = default;
  explicit StringTable(const std::vector<std::string>& strings);

  std::size_t size() const { return begin_.empty() ? 0 : begin_.size() - 1; }
  std::string_view operator[](StringId id) const {
    if (id >= size()) return {};
    return {text_.data() + begin_[id], begin_[id + 1] - begin_[id]};
  }
  // Linear: for the few look-ups by name that a question needs, not for loops over events.
  StringId find(std::string_view text) const;
  std::size_t memory() const { return text_.capacity() + begin_.capacity() * sizeof(begin_[0]); }

 private:
  std::string text_;
  std::vector<std::uint64_t> begin_;
};

// Raw bytes → dense local id, in order of first appearance. Keys are the bytes as they stand in the
// source (still escaped), so that a hit costs one hash and one comparison; what they mean is worked
// out once per distinct string by whoever turns the pool into a table.
class StringPool {
 public:
  struct Entry {
    std::string_view raw;
    std::uint64_t first_seen;  // smallest position at which it was interned
  };

  StringPool();
  StringPool(const StringPool&) = delete;
  StringPool& operator=(const StringPool&) = delete;
  StringPool(StringPool&&) = default;
  StringPool& operator=(StringPool&&) = default;

  // `position` must not fall within one pool: readers of one lane move forward.
  StringId intern(std::string_view raw, std::uint64_t position) {
    const std::uint64_t hash = hash_of(raw);
    std::size_t slot = hash & mask_;
    while (true) {
      const Slot& entry = slots_[slot];
      if (entry.id == kNoString) return insert(raw, hash, slot, position);
      if (entry.tag == static_cast<std::uint32_t>(hash >> 32) && entries_[entry.id].raw == raw) {
        return entry.id;
      }
      slot = (slot + 1) & mask_;
    }
  }

  std::span<const Entry> entries() const { return entries_; }
  std::size_t memory() const;

 private:
  struct Slot {
    std::uint32_t tag = 0;
    StringId id = kNoString;
  };

  static std::uint64_t hash_of(std::string_view raw);
  StringId insert(std::string_view raw, std::uint64_t hash, std::size_t slot,
                  std::uint64_t position);
  std::string_view keep(std::string_view raw);
  void grow();

  std::vector<Slot> slots_;
  std::size_t mask_;
  std::vector<Entry> entries_;
  std::deque<std::string> pages_;  // characters; a page never moves once written
};

}  // namespace stepscope::base
