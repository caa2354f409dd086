// Sizes of memory as people write them.
#include "base/size_text.h"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>
#include <system_error>

#include "base/ascii.h"

namespace stepscope::base {
namespace {

struct SizeUnit {
  std::string_view name;
  Bytes bytes;
};

constexpr std::array kSizeUnits = std::to_array<SizeUnit>({
    {"", 1},
    {"b", 1},
    {"k", Bytes{1} << 10},
    {"kib", Bytes{1} << 10},
    {"kb", 1'000},
    {"m", Bytes{1} << 20},
    {"mib", Bytes{1} << 20},
    {"mb", 1'000'000},
    {"g", Bytes{1} << 30},
    {"gib", Bytes{1} << 30},
    {"gb", 1'000'000'000},
    {"t", Bytes{1} << 40},
    {"tib", Bytes{1} << 40},
    {"tb", 1'000'000'000'000},
});

std::optional<Bytes> factor_of(std::string_view unit) {
  while (unit.starts_with(' ')) unit.remove_prefix(1);
  const std::string name = lowered(unit);
  for (const SizeUnit& known : kSizeUnits) {
    if (name == known.name) return known.bytes;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Bytes> parse_size(std::string_view text) {
  constexpr Bytes kMost = std::numeric_limits<Bytes>::max();
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  Bytes whole = 0;
  const auto integer = std::from_chars(begin, end, whole);
  double number = 0;
  const auto real = std::from_chars(begin, end, number);
  if (real.ec != std::errc() || !std::isfinite(number) || !(number > 0)) return std::nullopt;
  const auto factor = factor_of(text.substr(static_cast<std::size_t>(real.ptr - begin)));
  if (!factor) return std::nullopt;
  // Whole numbers are exact, also above what a double holds.
  if (integer.ec == std::errc() && integer.ptr == real.ptr) {
    return whole <= kMost / *factor ? std::optional(whole * *factor) : std::nullopt;
  }
  const double bytes = number * static_cast<double>(*factor);
  return bytes >= 1 && bytes < 9.2e18 ? std::optional(static_cast<Bytes>(bytes)) : std::nullopt;
}

std::string unit_forgotten(std::string_view text) {
  constexpr Bytes kLeast = Bytes{1} << 20;
  const auto bytes = parse_size(text);
  const bool is_bare = text.find_first_not_of("0123456789.") == std::string_view::npos;
  if (!bytes || *bytes >= kLeast || !is_bare) return {};
  // No GPU has a thousand GiB; tools tell the memory in MiB, too.
  return std::string(text) + (*bytes < 1000 ? "GiB" : "MiB");
}

}  // namespace stepscope::base
