// Parses times, whole and real numbers from decimal text, exactly.
#include "ingest/kineto/numbers.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>

namespace stepscope::ingest::kineto {
namespace {

constexpr base::Nanos kMostNanos = base::Nanos{1} << 62;
constexpr std::int64_t kMostDigits = 19;      // of any value below 2^62
constexpr std::int64_t kMostExponent = 1000;  // beyond this the value is 0 or out of range anyway

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// A decimal number taken apart: value = digits × 10^exponent, sign apart, no leading zeros.
struct Decimal {
  bool negative = false;
  std::string digits;
  std::int64_t exponent = 0;
};

std::optional<Decimal> take_apart(std::string_view text) {
  Decimal out;
  std::size_t at = 0;
  if (at < text.size() && (text[at] == '-' || text[at] == '+')) out.negative = text[at++] == '-';
  const std::size_t first = at;
  bool any = false;
  for (; at < text.size() && is_digit(text[at]); ++at, any = true) out.digits += text[at];
  if (at < text.size() && text[at] == '.') {
    for (++at; at < text.size() && is_digit(text[at]); ++at, any = true) {
      out.digits += text[at];
      --out.exponent;
    }
  }
  if (!any || first == text.size()) return std::nullopt;
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < text.size() && text[at] == '+') ++at;
    std::int64_t exponent = 0;
    const auto [end, error] =
        std::from_chars(text.data() + at, text.data() + text.size(), exponent);
    if (error == std::errc::invalid_argument) return std::nullopt;
    if (error == std::errc::result_out_of_range)
      exponent = text[at] == '-' ? -kMostExponent : kMostExponent;
    at = static_cast<std::size_t>(end - text.data());
    out.exponent += std::clamp(exponent, -kMostExponent, kMostExponent);
  }
  if (at != text.size()) return std::nullopt;
  out.digits.erase(0, std::min(out.digits.find_first_not_of('0'), out.digits.size()));
  return out;
}

}  // namespace

std::optional<Time> parse_time(std::string_view text) {
  const std::optional<Decimal> decimal = take_apart(text);
  if (!decimal) return std::nullopt;
  Time time;
  if (decimal->digits.empty()) return time;
  const auto size = static_cast<std::int64_t>(decimal->digits.size());
  const std::int64_t exponent = decimal->exponent + 3;  // microseconds to nanoseconds
  const std::int64_t whole = size + exponent;           // digits before the nanosecond's point
  if (whole > kMostDigits) {
    time.out_of_range = true;
    return time;
  }
  std::uint64_t value = 0;
  for (std::int64_t i = 0; i < whole; ++i) {
    const char c = i < size ? decimal->digits[static_cast<std::size_t>(i)] : '0';
    value = value * 10 + static_cast<std::uint64_t>(c - '0');
  }
  // What is left of the digits decides the rounding: half to even.
  if (exponent < 0 && whole < size) {
    const auto from = static_cast<std::size_t>(std::max<std::int64_t>(whole, 0));
    const std::string_view rest = std::string_view(decimal->digits).substr(from);
    time.rounded = rest.find_first_not_of('0') != std::string_view::npos;
    const bool at_half = whole >= 0 && rest[0] >= '5';
    const bool above =
        rest[0] > '5' || rest.substr(1).find_first_not_of('0') != std::string_view::npos;
    if (at_half && (above || value % 2 == 1)) ++value;
  }
  if (value >= static_cast<std::uint64_t>(kMostNanos)) {
    time.out_of_range = true;
    return time;
  }
  time.ns = static_cast<base::Nanos>(value);
  if (decimal->negative) time.ns = -time.ns;
  return time;
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  std::int64_t value = 0;
  if (const auto [at, error] = std::from_chars(begin, end, value);
      error == std::errc() && at == end) {
    return value;
  }
  std::uint64_t large = 0;
  if (const auto [at, error] = std::from_chars(begin, end, large);
      error == std::errc() && at == end) {
    return static_cast<std::int64_t>(large);
  }
  if (text.starts_with("0x") || text.starts_with("0X")) {
    const auto [at, error] = std::from_chars(begin + 2, end, large, 16);
    if (error == std::errc() && at == end) return static_cast<std::int64_t>(large);
    return std::nullopt;
  }
  // "4.0" and "4e3": only what is whole and small enough to be exact.
  constexpr double kExact = 9007199254740992.0;
  const std::optional<double> real = parse_real(text);
  if (!real || std::floor(*real) != *real || std::abs(*real) > kExact) return std::nullopt;
  return static_cast<std::int64_t>(*real);
}

std::optional<double> parse_real(std::string_view text) {
  double value = 0;
  const auto [at, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || at != text.data() + text.size() || !std::isfinite(value)) {
    return std::nullopt;
  }
  return value;
}

}  // namespace stepscope::ingest::kineto
