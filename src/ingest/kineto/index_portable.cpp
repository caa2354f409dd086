// For any machine: a table look-up per byte.

#include "ingest/kineto/index_body.h"

namespace stepscope::ingest::kineto {
namespace {

enum Class : std::uint16_t {
  kQuote = 1,
  kColon = 2,
  kSeparator = 4,
  kOpen = 8,
  kClose = 16,
  kCurly = 32,
  kSpace = 64,
  kControl = 128,
  kForeign = 256,
  kLetter = 512,
  kOdd = 1024,
};

constexpr bool is_one_of(unsigned char c, const char* set) {
  for (; *set != 0; ++set) {
    if (static_cast<unsigned char>(*set) == c) return true;
  }
  return false;
}

constexpr std::uint16_t class_of(unsigned char c) {
  unsigned bits = 0;
  if (c == '"') bits |= kQuote;
  if (c == ':') bits |= kColon;
  if (c == ',' || c == ':') bits |= kSeparator;
  if (c == '{' || c == '[') bits |= kOpen;
  if (c == '}' || c == ']') bits |= kClose;
  if (c == '{' || c == '}') bits |= kCurly;
  if (is_one_of(c, " \t\n\r")) bits |= kSpace;
  if (c < 0x20) bits |= kControl;
  if (!is_one_of(c, " \t\n\r\"{}[],:0123456789+-.eEtrufalsn")) bits |= kForeign;
  if (is_one_of(c, "trufalsn")) bits |= kLetter;
  if (c == '\\' || c >= 0x80) bits |= kOdd;
  return static_cast<std::uint16_t>(bits);
}

struct Table {
  std::uint16_t of[256];
};
constexpr Table make_table() {
  Table table{};
  for (unsigned c = 0; c < 256; ++c) table.of[c] = class_of(static_cast<unsigned char>(c));
  return table;
}
constexpr Table kTable = make_table();

struct Portable {
  static Masks classify(const char* text) {
    Masks m{};
    for (unsigned i = 0; i < 64; ++i) {
      const std::uint64_t bits = kTable.of[static_cast<unsigned char>(text[i])];
      m.quote |= (bits & 1) << i;
      m.colon |= (bits >> 1 & 1) << i;
      m.separator |= (bits >> 2 & 1) << i;
      m.open |= (bits >> 3 & 1) << i;
      m.close |= (bits >> 4 & 1) << i;
      m.curly |= (bits >> 5 & 1) << i;
      m.space |= (bits >> 6 & 1) << i;
      m.control |= (bits >> 7 & 1) << i;
      m.foreign |= (bits >> 8 & 1) << i;
      m.letter |= (bits >> 9 & 1) << i;
      m.odd |= (bits >> 10 & 1) << i;
    }
    return m;
  }
  static std::uint64_t backslashes(const char* text) {
    std::uint64_t bits = 0;
    for (unsigned i = 0; i < 64; ++i) bits |= static_cast<std::uint64_t>(text[i] == '\\') << i;
    return bits;
  }
  static std::uint64_t behind(std::uint64_t from, std::uint64_t solid, std::uint64_t& carry) {
    return behind_by_adding(from, solid, carry);
  }
  static void write_places(std::uint64_t hits, std::uint32_t at, std::uint32_t* places) {
    write_places_one_by_one(hits, at, places);
  }

  static std::uint64_t prefix_xor(std::uint64_t bits) {
    for (int shift = 1; shift < 64; shift *= 2) bits ^= bits << shift;
    return bits;
  }
};

}  // namespace

void build_index_portable(const char* text, std::size_t size, Index& out) {
  build<Portable>(text, size, out);
}

}  // namespace stepscope::ingest::kineto
