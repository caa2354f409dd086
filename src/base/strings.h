// Interned text. A StringPool is filled by one thread while reading; a StringTable is what is left
// afterwards: immutable, dense ids, one block of characters.
#pragma once

#include <cstdint>
#include <cstring>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/number_map.h"

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

  StringPool() = default;
  StringPool(const StringPool&) = delete;
  StringPool& operator=(const StringPool&) = delete;
  StringPool(StringPool&&) noexcept = default;
  StringPool& operator=(StringPool&&) noexcept = default;

  // `position` must not fall within one pool: readers of one shard move forward.
  StringId intern(std::string_view raw, std::uint64_t position) {
    const auto [id, is_new] =
        ids_.try_emplace(hash_of(raw), static_cast<StringId>(entries_.size()),
                         [&](StringId other) { return same(entries_[other].raw, raw); });
    if (is_new) entries_.push_back({keep(raw), position});
    return id;
  }

  std::span<const Entry> entries() const { return entries_; }
  std::size_t memory() const;

 private:
  __extension__ using Uint128 = unsigned __int128;

  static std::uint64_t load(const char* at, std::size_t size) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, size);
    return word;
  }
  static std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
    const Uint128 product = static_cast<Uint128>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
  }
  // Multiply and fold, 16 bytes at a time; the tail by overlapping loads. Inline, as is the
  // comparison: an event interns one name or two, and a call costs as much as the work.
  static std::uint64_t hash_of(std::string_view raw) {
    constexpr std::uint64_t kA = 0x9e3779b97f4a7c15;
    constexpr std::uint64_t kB = 0xe7037ed1a0b428db;
    const char* p = raw.data();
    std::size_t left = raw.size();
    std::uint64_t h = kA ^ left;
    while (left > 16) {
      h = mix(load(p, 8) ^ h, load(p + 8, 8) ^ kB);
      p += 16;
      left -= 16;
    }
    if (left >= 8) return mix(load(p, 8) ^ h, load(p + left - 8, 8) ^ kB);
    if (left >= 4) return mix(load(p, 4) ^ h, load(p + left - 4, 4) ^ kB);
    if (left == 0) return mix(h, kB);
    const auto byte = [&](std::size_t i) {
      return static_cast<std::uint64_t>(static_cast<unsigned char>(p[i]));
    };
    return mix(h ^ byte(0), kB ^ (byte(left / 2) << 8) ^ (byte(left - 1) << 16));
  }
  static bool same(std::string_view a, std::string_view b) {
    if (a.size() != b.size()) return false;
    const char* p = a.data();
    const char* q = b.data();
    std::size_t left = a.size();
    if (left < 8) return left == 0 || std::memcmp(p, q, left) == 0;
    std::uint64_t different = 0;
    for (; left > 8; left -= 8, p += 8, q += 8) different |= load(p, 8) ^ load(q, 8);
    return (different | (load(p + left - 8, 8) ^ load(q + left - 8, 8))) == 0;
  }
  std::string_view keep(std::string_view raw);

  NumberMap ids_;  // by hash
  std::vector<Entry> entries_;
  std::deque<std::string> pages_;  // characters; a page never moves once written
};

}  // namespace stepscope::base
