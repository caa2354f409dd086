// Shares out time among roles that overlap, and reads the number widths in names of kernels.
#include "analysis/arithmetic/share_out.h"

#include <algorithm>
#include <array>
#include <string>

namespace stepscope::analysis {

std::vector<std::vector<base::Nanos>> share_out(
    std::span<const std::span<const Interval>> by_priority, std::span<const Interval> stretches) {
  std::vector<std::vector<base::Nanos>> out(stretches.size());
  std::vector<base::Nanos> before(stretches.size());  // what the roles so far cover
  Intervals own;
  std::span<const Interval> taken;
  for (const std::span<const Interval> role : by_priority) {
    if (taken.empty()) {
      taken = role;
    } else if (!role.empty()) {  // as many are
      own = unite(taken, role);
      taken = own;
    }
    for (std::size_t i = 0; i < stretches.size(); ++i) {
      const base::Nanos covered_now = role.empty() ? before[i] : covered(taken, stretches[i]);
      out[i].push_back(covered_now - before[i]);
      before[i] = covered_now;
    }
  }
  for (std::size_t i = 0; i < stretches.size(); ++i) {
    out[i].push_back(stretches[i].length() - before[i]);
  }
  return out;
}

namespace {

// Anywhere in a name, in lower case. "f16" is also in bf16; "float16" also in bfloat16.
constexpr std::array<std::string_view, 20> kNarrowParts = {
    "f16",           "fp16",           "float16", "half",  "h884",
    "h1688",         "h16816",         "hmma",    "hgemm", "fp8",
    "float8",        "e4m3",           "e5m2",    "e2m1",  "i8i8",
    "opaquetype<2>", "opaquetype<2u>", "int8_t",  "imma",  "i8816"};
constexpr std::array<std::string_view, 12> kWideParts = {
    "f32",   "fp32",   "float32",   "f64",           "fp64",           "sgemm",
    "dgemm", "scudnn", "s1688gemm", "opaquetype<4>", "opaquetype<4u>", "opaquetype<8>"};
// Whole words: C++ types. Integers are no evidence, every second kernel takes a count.
constexpr std::array<std::string_view, 2> kWideWords = {"float", "double"};

bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; }

bool has_number_width_word(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != std::string_view::npos;
       at = text.find(word, at + 1)) {
    const bool begins = at == 0 || !is_word(text[at - 1]);
    const bool ends = at + word.size() == text.size() || !is_word(text[at + word.size()]);
    if (begins && ends) return true;
  }
  return false;
}

NumberWidth of_letter(char c) {
  if (std::string_view("htbqo").find(c) != std::string_view::npos) return NumberWidth::kNarrow;
  if (std::string_view("sdcz").find(c) != std::string_view::npos) return NumberWidth::kWide;
  return NumberWidth::kUnsaid;
}

// cuBLAS: nvjet_hsh_…, nvjet_sm90_tst_…; the first letter is the type of the inputs (h half,
// t bfloat16, q and o fp8, s float, d double).
NumberWidth of_nvjet(std::string_view name) {
  std::size_t at = name.find("nvjet_") + 6;
  if (name.substr(at).starts_with("sm")) at = std::min(name.find('_', at), name.size() - 1) + 1;
  return at < name.size() ? of_letter(name[at]) : NumberWidth::kUnsaid;
}

// AMD's Tensile: Cijk_Ailk_Bljk_HHS_BH_…; the word after the index letters (h half, b bfloat16,
// s float).
NumberWidth of_tensile(std::string_view name) {
  std::size_t at = 0;
  for (int i = 0; i < 3; ++i) {
    at = name.find('_', at);
    if (at == std::string_view::npos) return NumberWidth::kUnsaid;
    ++at;
  }
  return at < name.size() ? of_letter(name[at]) : NumberWidth::kUnsaid;
}

}  // namespace

NumberWidth number_width(std::string_view kernel) {
  std::string name(kernel);
  std::ranges::transform(name, name.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  if (name.starts_with("nvjet_")) return of_nvjet(name);
  if (name.starts_with("cijk_")) return of_tensile(name);
  // Rotary embeddings rotate halves of a vector, whatever it is made of.
  for (std::size_t at = name.find("rotate_half"); at != std::string::npos;
       at = name.find("rotate_half")) {
    name.erase(at, 11);
  }
  const auto mentions = [&](std::string_view part) { return name.find(part) != std::string::npos; };
  if (std::ranges::any_of(kNarrowParts, mentions)) return NumberWidth::kNarrow;
  if (std::ranges::any_of(kWideParts, mentions) || std::ranges::any_of(kWideWords, [&](auto word) {
        return has_number_width_word(name, word);
      })) {
    return NumberWidth::kWide;
  }
  return NumberWidth::kUnsaid;
}

}  // namespace stepscope::analysis
