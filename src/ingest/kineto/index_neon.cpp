// aarch64, which always has NEON.

#include "ingest/kineto/index.h"

#if defined(__aarch64__)

#include <arm_neon.h>

#include "ingest/kineto/index_body.h"

namespace stepscope::ingest::kineto {
namespace {

struct Neon {
  using Vectors = uint8x16x4_t;

  // The highest bit of each of 64 bytes that are all ones or all zeros. Pairwise sums of one bit
  // per byte gather eight bytes into one, three times over.
  static std::uint64_t bits(uint8x16_t a, uint8x16_t b, uint8x16_t c, uint8x16_t d) {
    const uint8x16_t one_each = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    const uint8x16_t ab = vpaddq_u8(vandq_u8(a, one_each), vandq_u8(b, one_each));
    const uint8x16_t cd = vpaddq_u8(vandq_u8(c, one_each), vandq_u8(d, one_each));
    const uint8x16_t abcd = vpaddq_u8(ab, cd);
    return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(abcd, abcd)), 0);
  }
  template <class Test>
  static std::uint64_t where(const Vectors& v, Test test) {
    return bits(test(v.val[0]), test(v.val[1]), test(v.val[2]), test(v.val[3]));
  }
  static std::uint64_t equal(const Vectors& v, std::uint8_t c) {
    return where(v, [c](uint8x16_t x) { return vceqq_u8(x, vdupq_n_u8(c)); });
  }

  static Masks classify(const char* text) {
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(text);
    const Vectors v = {
        {vld1q_u8(bytes), vld1q_u8(bytes + 16), vld1q_u8(bytes + 32), vld1q_u8(bytes + 48)}};
    Vectors lower;
    for (int i = 0; i < 4; ++i) lower.val[i] = vorrq_u8(v.val[i], vdupq_n_u8(0x20));
    // As in the AVX2 version: the rows of the code table by the high four bits, their members by
    // the low four.
    const uint8x16_t low_table = {0x06, 0x24, 0x46, 0x44, 0x44, 0x6c, 0x24, 0x04,
                                  0x04, 0x05, 0x05, 0x52, 0x22, 0x53, 0x22, 0x00};
    const uint8x16_t high_table = {1, 0, 2, 4, 8, 16, 32, 64, 0, 0, 0, 0, 0, 0, 0, 0};
    const uint8x16_t letter_low = {0, 1, 2, 2, 2, 2, 1, 0, 0, 0, 0, 0, 1, 0, 1, 0};
    const uint8x16_t letter_high = {0, 0, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0};
    const auto in_table = [](uint8x16_t x, uint8x16_t low, uint8x16_t high) {
      return vandq_u8(vqtbl1q_u8(low, vandq_u8(x, vdupq_n_u8(0x0f))),
                      vqtbl1q_u8(high, vshrq_n_u8(x, 4)));
    };
    Masks m;
    m.quote = equal(v, '"');
    m.colon = equal(v, ':');
    m.separator = m.colon | equal(v, ',');
    m.open = equal(lower, '{');
    m.close = equal(lower, '}');
    m.curly = where(v, [](uint8x16_t x) { return vtstq_u8(x, vdupq_n_u8(0x20)); });
    m.control = where(v, [](uint8x16_t x) { return vcltq_u8(x, vdupq_n_u8(0x20)); });
    m.space = equal(v, ' ') | equal(v, '\n') | equal(v, '\t') | equal(v, '\r');
    m.odd =
        backslashes(text) | where(v, [](uint8x16_t x) { return vtstq_u8(x, vdupq_n_u8(0x80)); });
    m.foreign =
        where(v, [&](uint8x16_t x) { return vceqzq_u8(in_table(x, low_table, high_table)); });
    m.letter =
        ~where(v, [&](uint8x16_t x) { return vceqzq_u8(in_table(x, letter_low, letter_high)); });
    return m;
  }

  static std::uint64_t backslashes(const char* text) {
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(text);
    const Vectors v = {
        {vld1q_u8(bytes), vld1q_u8(bytes + 16), vld1q_u8(bytes + 32), vld1q_u8(bytes + 48)}};
    return equal(v, '\\');
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

void build_neon(const char* text, std::size_t size, Index& out) { build<Neon>(text, size, out); }

}  // namespace

BuildIndex build_index_neon() { return build_neon; }

}  // namespace stepscope::ingest::kineto

#else

namespace stepscope::ingest::kineto {
BuildIndex build_index_neon() { return nullptr; }
}  // namespace stepscope::ingest::kineto

#endif
