// x86-64 with AVX-512: comparisons give their 64 bits directly. Compiled with -mavx512bw and friends;
// called only where the machine has them.

#include "ingest/kineto/index.h"

#if defined(__AVX512BW__) && defined(__AVX512VBMI__) && defined(__PCLMUL__)

#include <immintrin.h>

#include "ingest/kineto/index_body.h"

namespace stepscope::ingest::kineto {
namespace {

struct Avx512 {
  static Masks classify(const char* text) {
    const __m512i v = _mm512_loadu_si512(text);
    const auto equal = [](__m512i x, char c) -> std::uint64_t {
      return _mm512_cmpeq_epi8_mask(x, _mm512_set1_epi8(c));
    };
    // One bit per ASCII character that may stand outside strings, in two tables of 64 bytes.
    alignas(64) static constexpr char kNative[128] = {
        0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 1, 0, 0,  // \t \n \r
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,  //
        1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 0,  // space " + , - .
        1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0,  // digits :
        0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,  // E
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0,  // [ ]
        0, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 1, 0, 1, 0,  // a e f l n
        0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0,  // r s t u { }
    };
    const __m512i low = _mm512_load_si512(kNative);
    const __m512i high = _mm512_load_si512(kNative + 64);
    const __m512i lower = _mm512_or_si512(v, _mm512_set1_epi8(0x20));
    Masks m;
    m.quote = equal(v, '"');
    m.backslash = equal(v, '\\');
    m.comma = equal(v, ',');
    m.colon = equal(v, ':');
    m.open = equal(lower, '{');
    m.close = equal(lower, '}');
    m.curly = _mm512_test_epi8_mask(v, _mm512_set1_epi8(0x20));
    m.control = _mm512_cmplt_epu8_mask(v, _mm512_set1_epi8(0x20));
    m.space = equal(v, ' ') | equal(v, '\n') | equal(v, '\t') | equal(v, '\r');
    m.high = _mm512_movepi8_mask(v);
    m.letter = _mm512_test_epi8_mask(v, _mm512_set1_epi8(0x40)) & ~m.high;
    const __m512i native = _mm512_permutex2var_epi8(low, v, high);
    m.foreign = m.high | _mm512_testn_epi8_mask(native, native);
    return m;
  }

  static std::uint64_t prefix_xor(std::uint64_t bits) {
    const __m128i ones = _mm_set1_epi8(static_cast<char>(0xff));
    const __m128i product =
        _mm_clmulepi64_si128(_mm_set_epi64x(0, static_cast<long long>(bits)), ones, 0);
    return static_cast<std::uint64_t>(_mm_cvtsi128_si64(product));
  }
};

void build_avx512(const char* text, std::size_t size, Index& out) { build<Avx512>(text, size, out); }

}  // namespace

BuildIndex build_index_avx512() {
  const bool has = __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vbmi") &&
                   __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("bmi2") &&
                   __builtin_cpu_supports("popcnt");
  return has ? build_avx512 : nullptr;
}

}  // namespace stepscope::ingest::kineto

#else

namespace stepscope::ingest::kineto {
BuildIndex build_index_avx512() { return nullptr; }
}  // namespace stepscope::ingest::kineto

#endif
