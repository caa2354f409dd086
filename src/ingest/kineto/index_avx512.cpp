// x86-64 with AVX-512: comparisons give their 64 bits directly. Compiled with -mavx512bw and
// friends; called only where the machine has them.

#include "ingest/kineto/index.h"

#if defined(__AVX512BW__) && defined(__AVX512VBMI2__) && defined(__PCLMUL__)

#include <immintrin.h>

#include "ingest/kineto/index_body.h"

namespace stepscope::ingest::kineto {
namespace {

struct Avx512 {
  static Masks classify(const char* text) {
    // Per ASCII character, what it is; other bytes are nothing at all.
    enum : char {
      kNative = 1,
      kPlain = 2,
      kSpace = 4,
      kControl = 8,
      kSeparator = 16,
      kOpen = 32,
      kClose = 64
    };
    alignas(64) static constexpr unsigned char kClasses[128] = {
        0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0f, 0x0f, 0x0a, 0x0a, 0x0f, 0x0a,
        0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a,
        0x0a, 0x0a, 0x07, 0x02, 0x03, 0x02, 0x02, 0x02, 0x02, 0x02, 0x02, 0x02, 0x02, 0x03, 0x13,
        0x03, 0x03, 0x02, 0x03, 0x03, 0x03, 0x03, 0x03, 0x03, 0x03, 0x03, 0x03, 0x03, 0x13, 0x02,
        0x02, 0x02, 0x02, 0x02, 0x02, 0x02, 0x02, 0x02, 0x02, 0x03, 0x02, 0x02, 0x02, 0x02, 0x02,
        0x02, 0x02, 0x02, 0x02, 0x02, 0x02, 0x02, 0x02, 0x02, 0x02, 0x02, 0x02, 0x02, 0x02, 0x02,
        0x02, 0x23, 0x00, 0x43, 0x02, 0x02, 0x02, 0x83, 0x02, 0x02, 0x02, 0x03, 0x83, 0x02, 0x02,
        0x02, 0x02, 0x02, 0x83, 0x02, 0x83, 0x02, 0x02, 0x02, 0x83, 0x83, 0x83, 0x83, 0x02, 0x02,
        0x02, 0x02, 0x02, 0x23, 0x02, 0x43, 0x02, 0x02,
    };
    const __m512i v = _mm512_loadu_si512(text);
    const __mmask64 is_ascii = _knot_mask64(_mm512_movepi8_mask(v));
    const __m512i classes = _mm512_maskz_permutex2var_epi8(is_ascii, _mm512_load_si512(kClasses), v,
                                                           _mm512_load_si512(kClasses + 64));
    const auto is = [&](char bit) -> std::uint64_t {
      return _mm512_test_epi8_mask(classes, _mm512_set1_epi8(bit));
    };
    Masks m;
    m.quote = _mm512_cmpeq_epi8_mask(v, _mm512_set1_epi8('"'));
    m.colon = _mm512_cmpeq_epi8_mask(v, _mm512_set1_epi8(':'));
    m.separator = is(kSeparator);
    m.open = is(kOpen);
    m.close = is(kClose);
    m.curly = _mm512_test_epi8_mask(v, _mm512_set1_epi8(0x20));
    m.space = is(kSpace);
    m.control = is(kControl);
    m.foreign = _mm512_testn_epi8_mask(classes, _mm512_set1_epi8(kNative));
    m.letter = _mm512_movepi8_mask(classes);
    m.odd = _mm512_testn_epi8_mask(classes, _mm512_set1_epi8(kPlain));
    return m;
  }

  static std::uint64_t backslashes(const char* text) {
    return _mm512_cmpeq_epi8_mask(_mm512_loadu_si512(text), _mm512_set1_epi8('\\'));
  }

  // Squeezes the space out, moves every bit to its successor, and puts the space back in.
  static std::uint64_t behind(std::uint64_t from, std::uint64_t solid, std::uint64_t& carry) {
    const std::uint64_t after = _pdep_u64(_pext_u64(from, solid) << 1 | carry, solid);
    if (solid != 0) carry = from >> (63 - __builtin_clzll(solid)) & 1;
    return after;
  }

  // Compresses the numbers 0 to 63 by the mask; sixteen at a time are widened and stored.
  static void write_places(std::uint64_t hits, std::uint32_t at, std::uint32_t* places) {
    alignas(64) static constexpr char kNumbers[64] = {
        0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
        22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43,
        44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63};
    const __m512i places_8 = _mm512_maskz_compress_epi8(hits, _mm512_load_si512(kNumbers));
    const __m512i base = _mm512_set1_epi32(static_cast<int>(at));
    const auto store = [&](int from, __m128i part) {
      _mm512_storeu_si512(places + from, _mm512_add_epi32(_mm512_cvtepu8_epi32(part), base));
    };
    store(0, _mm512_castsi512_si128(places_8));
    const int found = __builtin_popcountll(hits);
    if (found > 16) {
      store(16, _mm512_extracti32x4_epi32(places_8, 1));
      store(32, _mm512_extracti32x4_epi32(places_8, 2));
      store(48, _mm512_extracti32x4_epi32(places_8, 3));
    }
  }

  static std::uint64_t prefix_xor(std::uint64_t bits) {
    const __m128i ones = _mm_set1_epi8(static_cast<char>(0xff));
    const __m128i product =
        _mm_clmulepi64_si128(_mm_set_epi64x(0, static_cast<long long>(bits)), ones, 0);
    return static_cast<std::uint64_t>(_mm_cvtsi128_si64(product));
  }
};

void build_avx512(const char* text, std::size_t size, Index& out) {
  build<Avx512>(text, size, out);
}

}  // namespace

BuildIndex build_index_avx512() {
  const bool has = __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vbmi") &&
                   __builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("pclmul") &&
                   __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
  return has ? build_avx512 : nullptr;
}

}  // namespace stepscope::ingest::kineto

#else

namespace stepscope::ingest::kineto {
BuildIndex build_index_avx512() { return nullptr; }
}  // namespace stepscope::ingest::kineto

#endif
