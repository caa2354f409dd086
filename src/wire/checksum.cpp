// CRC-32C of a block.
#include "wire/checksum.h"

#include <array>
#include <cstddef>
#include <cstring>

namespace stepscope::wire {
namespace {

constexpr std::uint32_t kPolynomial = 0x82f63b78;  // Castagnoli's, reflected

// Eight tables, so that eight bytes are taken at a time.
constexpr auto kTables = [] {
  std::array<std::array<std::uint32_t, 256>, 8> tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t value = byte;
    for (int bit = 0; bit < 8; ++bit) value = value >> 1 ^ ((value & 1) != 0 ? kPolynomial : 0);
    tables[0][byte] = value;
  }
  for (std::size_t t = 1; t < tables.size(); ++t) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t before = tables[t - 1][byte];
      tables[t][byte] = before >> 8 ^ tables[0][before & 0xff];
    }
  }
  return tables;
}();

std::uint32_t byte_of(char c) { return static_cast<unsigned char>(c); }

std::uint32_t by_table(std::span<const char> bytes, std::uint32_t crc) {
  std::size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8) {
    const char* const b = bytes.data() + at;
    const std::uint32_t low =
        crc ^ (byte_of(b[0]) | byte_of(b[1]) << 8 | byte_of(b[2]) << 16 | byte_of(b[3]) << 24);
    crc = kTables[7][low & 0xff] ^ kTables[6][low >> 8 & 0xff] ^ kTables[5][low >> 16 & 0xff] ^
          kTables[4][low >> 24] ^ kTables[3][byte_of(b[4])] ^ kTables[2][byte_of(b[5])] ^
          kTables[1][byte_of(b[6])] ^ kTables[0][byte_of(b[7])];
  }
  for (; at < bytes.size(); ++at) crc = crc >> 8 ^ kTables[0][(crc ^ byte_of(bytes[at])) & 0xff];
  return crc;
}

#ifdef __x86_64__
// Every processor since 2009 has an instruction for it, but the compiler may not count on that.
__attribute__((target("sse4.2"))) std::uint32_t by_instruction(std::span<const char> bytes,
                                                               std::uint32_t crc) {
  std::size_t at = 0;
  std::uint64_t wide = crc;
  for (; at + 8 <= bytes.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, sizeof(word));
    wide = __builtin_ia32_crc32di(wide, word);
  }
  crc = static_cast<std::uint32_t>(wide);
  for (; at < bytes.size(); ++at) {
    crc = __builtin_ia32_crc32qi(crc, static_cast<unsigned char>(bytes[at]));
  }
  return crc;
}

const bool kHasInstruction = __builtin_cpu_supports("sse4.2") != 0;
#endif

}  // namespace

std::uint32_t crc32c(std::span<const char> bytes, std::uint32_t so_far) {
#ifdef __x86_64__
  if (kHasInstruction) return ~by_instruction(bytes, ~so_far);
#endif
  return ~by_table(bytes, ~so_far);
}

}  // namespace stepscope::wire
