// Numbers in a payload: fixed ones as they lie in memory, small ones in as few bytes as they need.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

namespace stepscope::wire {

static_assert(std::endian::native == std::endian::little, "the format is little-endian");

template <class T>
void put_fixed(std::string& out, T value) {
  const std::size_t at = out.size();
  out.resize(at + sizeof(T));
  std::memcpy(out.data() + at, &value, sizeof(T));
}

// Seven bits a byte, the lowest first; the high bit says that more follow.
inline void put_varint(std::string& out, std::uint64_t value) {
  while (value >= 0x80) {
    out += static_cast<char>(value | 0x80);
    value >>= 7;
  }
  out += static_cast<char>(value);
}

// Small numbers of either sign stay small.
constexpr std::uint64_t zigzag(std::int64_t value) {
  return static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63);
}
constexpr std::int64_t unzigzag(std::uint64_t value) {
  return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
}

inline void put_text(std::string& out, std::string_view text) {
  put_varint(out, text.size());
  out += text;
}

// Reads in order; whatever does not fit makes it fail for good and gives zeros from there on.
class Cursor {
 public:
  explicit Cursor(std::span<const char> bytes)
      : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  bool ok() const { return ok_; }
  bool at_end() const { return at_ == end_; }
  std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }

  template <class T>
  T fixed() {
    T value{};
    if (left() < sizeof(T)) {
      give_up();
      return value;
    }
    std::memcpy(&value, at_, sizeof(T));
    at_ += sizeof(T);
    return value;
  }

  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; at_ != end_ && shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(*at_++);
      value |= static_cast<std::uint64_t>(byte & 0x7fU) << shift;
      if (byte < 0x80) return value;
    }
    give_up();
    return 0;
  }

  std::string_view text() {
    const std::uint64_t size = varint();
    if (size > left()) {
      give_up();
      return {};
    }
    const std::string_view value(at_, size);
    at_ += size;
    return value;
  }

 private:
  void give_up() {
    ok_ = false;
    at_ = end_;
  }

  const char* at_;
  const char* end_;
  bool ok_ = true;
};

}  // namespace stepscope::wire
