// x86-64 with AVX2. Compiled with -mavx2 and friends; called only where the machine has them.

#include "ingest/kineto/index.h"

#if defined(__AVX2__) && defined(__PCLMUL__)

#include <immintrin.h>

#include "ingest/kineto/index_body.h"

namespace stepscope::ingest::kineto {
namespace {

struct Avx2 {
  static std::uint64_t bits(__m256i low, __m256i high) {
    const auto a = static_cast<std::uint32_t>(_mm256_movemask_epi8(low));
    const auto b = static_cast<std::uint32_t>(_mm256_movemask_epi8(high));
    return static_cast<std::uint64_t>(b) << 32 | a;
  }
  static std::uint64_t equal(__m256i low, __m256i high, char c) {
    const __m256i wanted = _mm256_set1_epi8(c);
    return bits(_mm256_cmpeq_epi8(low, wanted), _mm256_cmpeq_epi8(high, wanted));
  }
  // Space: looked up by the low four bits, the table's own byte must be the byte itself.
  static __m256i is_space(__m256i v) {
    const __m256i table = _mm256_setr_epi8(' ', 100, 100, 100, 17, 100, 113, 2, 100, '\t', '\n',
                                           112, 100, '\r', 100, 100, ' ', 100, 100, 100, 17, 100,
                                           113, 2, 100, '\t', '\n', 112, 100, '\r', 100, 100);
    return _mm256_cmpeq_epi8(v, _mm256_shuffle_epi8(table, v));
  }
  // Whether a byte is in a set: one bit per row of the code table, which the high four bits choose,
  // must be among the bits that the low four bits choose.
  static __m256i in_table(__m256i v, __m256i low, __m256i high) {
    const __m256i nibble = _mm256_set1_epi8(0x0f);
    return _mm256_and_si256(
        _mm256_shuffle_epi8(low, _mm256_and_si256(v, nibble)),
        _mm256_shuffle_epi8(high, _mm256_and_si256(_mm256_srli_epi16(v, 4), nibble)));
  }

  static Masks classify(const char* text) {
    const __m256i a = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(text));
    const __m256i b = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(text + 32));
    const __m256i bit_5 = _mm256_set1_epi8(0x20);
    const __m256i zero = _mm256_setzero_si256();
    const __m256i a_lower = _mm256_or_si256(a, bit_5);
    const __m256i b_lower = _mm256_or_si256(b, bit_5);
    const __m256i last_control = _mm256_set1_epi8(0x1f);
    // What may stand outside strings. Rows: 0x0_ bit 0 (\t \n \r), 0x2_ bit 1 (space " + , - .),
    // 0x3_ bit 2 (digits :), 0x4_ bit 3 (E), 0x5_ bit 4 ([ ]), 0x6_ bit 5 (a e f l n),
    // 0x7_ bit 6 (r s t u { }).
    const __m256i native_low =
        _mm256_setr_epi8(0x06, 0x24, 0x46, 0x44, 0x44, 0x6c, 0x24, 0x04, 0x04, 0x05, 0x05, 0x52,
                         0x22, 0x53, 0x22, 0x00, 0x06, 0x24, 0x46, 0x44, 0x44, 0x6c, 0x24, 0x04,
                         0x04, 0x05, 0x05, 0x52, 0x22, 0x53, 0x22, 0x00);
    const __m256i native_high = _mm256_setr_epi8(1, 0, 2, 4, 8, 16, 32, 64, 0, 0, 0, 0, 0, 0, 0, 0,
                                                 1, 0, 2, 4, 8, 16, 32, 64, 0, 0, 0, 0, 0, 0, 0, 0);
    // Letters of true, false and null by the same kind of tables as is_native().
    const __m256i letter_low = _mm256_setr_epi8(0, 1, 2, 2, 2, 2, 1, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0,
                                                1, 2, 2, 2, 2, 1, 0, 0, 0, 0, 0, 1, 0, 1, 0);
    const __m256i letter_high = _mm256_setr_epi8(0, 0, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                                                 0, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0);
    Masks m;
    m.quote = equal(a, b, '"');
    m.colon = equal(a, b, ':');
    m.separator = m.colon | equal(a, b, ',');
    m.open = equal(a_lower, b_lower, '{');
    m.close = equal(a_lower, b_lower, '}');
    m.curly = bits(_mm256_slli_epi16(a, 2), _mm256_slli_epi16(b, 2));
    m.space = bits(is_space(a), is_space(b));
    m.control = bits(_mm256_cmpeq_epi8(_mm256_min_epu8(a, last_control), a),
                     _mm256_cmpeq_epi8(_mm256_min_epu8(b, last_control), b));
    m.foreign = bits(_mm256_cmpeq_epi8(in_table(a, native_low, native_high), zero),
                     _mm256_cmpeq_epi8(in_table(b, native_low, native_high), zero));
    m.letter = ~bits(_mm256_cmpeq_epi8(in_table(a, letter_low, letter_high), zero),
                     _mm256_cmpeq_epi8(in_table(b, letter_low, letter_high), zero));
    m.odd = equal(a, b, '\\') | bits(a, b);
    return m;
  }

  static std::uint64_t backslashes(const char* text) {
    return equal(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(text)),
                 _mm256_loadu_si256(reinterpret_cast<const __m256i*>(text + 32)), '\\');
  }

  // Squeezes the space out, moves every bit to its successor, and puts the space back in.
  static std::uint64_t behind(std::uint64_t from, std::uint64_t solid, std::uint64_t& carry) {
    const std::uint64_t after = _pdep_u64(_pext_u64(from, solid) << 1 | carry, solid);
    if (solid != 0) carry = from >> (63 - __builtin_clzll(solid)) & 1;
    return after;
  }

  static void write_places(std::uint64_t hits, std::uint32_t at, std::uint32_t* places) {
    write_places_one_by_one(hits, at, places);
  }

  static std::uint64_t prefix_xor(std::uint64_t bits) {
    const __m128i ones = _mm_set1_epi8(static_cast<char>(0xff));
    const __m128i product =
        _mm_clmulepi64_si128(_mm_set_epi64x(0, static_cast<long long>(bits)), ones, 0);
    return static_cast<std::uint64_t>(_mm_cvtsi128_si64(product));
  }
};

void build_avx2(const char* text, std::size_t size, Index& out) { build<Avx2>(text, size, out); }

}  // namespace

BuildIndex build_index_avx2() {
  const bool has = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("pclmul") &&
                   __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
                   __builtin_cpu_supports("popcnt");
  return has ? build_avx2 : nullptr;
}

}  // namespace stepscope::ingest::kineto

#else

namespace stepscope::ingest::kineto {
BuildIndex build_index_avx2() { return nullptr; }
}  // namespace stepscope::ingest::kineto

#endif
