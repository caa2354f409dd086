// For any machine: a table look-up per byte.

#include "ingest/kineto/index_body.h"

namespace stepscope::ingest::kineto {
namespace {

enum Class : std::uint16_t {
  kQuote = 1,
  kBackslash = 2,
  kComma = 4,
  kColon = 8,
  kOpen = 16,
  kClose = 32,
  kCurly = 64,
  kSpace = 128,
  kControl = 256,
  kForeign = 512,
  kLetter = 1024,
  kHigh = 2048,
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
  if (c == '\\') bits |= kBackslash;
  if (c == ',') bits |= kComma;
  if (c == ':') bits |= kColon;
  if (c == '{' || c == '[') bits |= kOpen;
  if (c == '}' || c == ']') bits |= kClose;
  if (c == '{' || c == '}') bits |= kCurly;
  if (c != 0 && is_one_of(c, " \t\n\r")) bits |= kSpace;
  if (c < 0x20) bits |= kControl;
  if (c >= 0x80) bits |= kHigh;
  if (c >= 0x40 && c < 0x80) bits |= kLetter;
  const bool allowed = c != 0 && is_one_of(c, " \t\n\r\"{}[],:0123456789+-.eEtrufalsn");
  if (!allowed) bits |= kForeign;
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
      m.backslash |= (bits >> 1 & 1) << i;
      m.comma |= (bits >> 2 & 1) << i;
      m.colon |= (bits >> 3 & 1) << i;
      m.open |= (bits >> 4 & 1) << i;
      m.close |= (bits >> 5 & 1) << i;
      m.curly |= (bits >> 6 & 1) << i;
      m.space |= (bits >> 7 & 1) << i;
      m.control |= (bits >> 8 & 1) << i;
      m.foreign |= (bits >> 9 & 1) << i;
      m.letter |= (bits >> 10 & 1) << i;
      m.high |= (bits >> 11 & 1) << i;
    }
    return m;
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
