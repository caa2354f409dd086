// A value of the pickle machine in 16 bytes. Text is interned, containers are slots elsewhere, and
// what has become part of the snapshot (a frame, a stack, an event) is only its id.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

namespace stepscope::ingest::pickle {

enum class Tag : std::uint8_t {
  kNone,
  kBool,
  kInt,       // int64
  kUnsigned,  // from 2^63 on: addresses that Python writes in nine bytes
  kHuge,      // an integer beyond 64 bits
  kReal,
  kText,    // a string's id
  kPair,    // a tuple of two small integers: a pool's id
  kList,    // a slot; tuples and sets are lists too
  kDict,    // a slot
  kFrame,   // settled: a memory::FrameId
  kStack,   // settled: a memory::StackId
  kBlocks,  // settled: an index into the lists of blocks
  kEvent,   // settled into the list that bits names; appending it there is done already
  kRow,     // settled: an event, by its list of events (16 bits) and its row there (40 bits)
  kHusk,    // settled or dropped: nothing of it is left
};

struct Cell {
  Tag tag = Tag::kNone;
  std::uint64_t bits = 0;

  bool is_slot() const { return tag == Tag::kList || tag == Tag::kDict; }
  std::uint32_t id() const { return static_cast<std::uint32_t>(bits); }

  static Cell integer(std::int64_t value) { return {Tag::kInt, static_cast<std::uint64_t>(value)}; }
  static Cell real(double value) { return {Tag::kReal, std::bit_cast<std::uint64_t>(value)}; }
  static Cell text(std::uint32_t id) { return {Tag::kText, id}; }
};

// Two's complement, least significant byte first, of any length.
inline Cell integer_of(std::string_view bytes) {
  if (bytes.empty()) return Cell::integer(0);
  const bool negative = (bytes.back() & 0x80) != 0;
  std::uint64_t value = negative ? ~std::uint64_t{0} : 0;
  std::memcpy(&value, bytes.data(), std::min<std::size_t>(bytes.size(), 8));
  bool fits = true;
  for (std::size_t i = 8; i < bytes.size(); ++i) {
    fits = fits && static_cast<unsigned char>(bytes[i]) == (negative ? 0xff : 0);
  }
  const bool top = (value >> 63) != 0;
  if (!fits || (negative && !top)) return {Tag::kHuge, 0};
  return {top && !negative ? Tag::kUnsigned : Tag::kInt, value};
}

// As a whole number; some dumps were made from floats. Nothing where it is none or does not fit.
inline std::optional<std::int64_t> whole(const Cell& cell) {
  switch (cell.tag) {
    case Tag::kBool:
    case Tag::kInt:
      return static_cast<std::int64_t>(cell.bits);
    case Tag::kReal: {
      const double value = std::bit_cast<double>(cell.bits);
      if (!(value >= -9.2e18 && value <= 9.2e18)) return std::nullopt;
      return static_cast<std::int64_t>(std::llround(value));
    }
    default:
      return std::nullopt;
  }
}

// The same for addresses, which use all 64 bits.
inline std::optional<std::uint64_t> address(const Cell& cell) {
  if (cell.tag == Tag::kUnsigned) return cell.bits;
  const auto value = whole(cell);
  return value ? std::optional(static_cast<std::uint64_t>(*value)) : std::nullopt;
}

}  // namespace stepscope::ingest::pickle
