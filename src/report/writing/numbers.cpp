// Durations, sizes and counts with three digits.
#include "report/writing/numbers.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

namespace stepscope::report {
namespace {

struct NumberUnit {
  std::string_view name;
  double size;
};

constexpr std::array<NumberUnit, 7> kNumbersTimes = {{{"ns", 1},
                                                      {"µs", 1e3},
                                                      {"ms", 1e6},
                                                      {"s", 1e9},
                                                      {"min", 6e10},
                                                      {"h", 3.6e12},
                                                      {"d", 8.64e13}}};
constexpr std::array<NumberUnit, 6> kSizes = {{{"B", 1},
                                               {"KiB", 1024.0},
                                               {"MiB", 1048576.0},
                                               {"GiB", 1073741824.0},
                                               {"TiB", 1099511627776.0},
                                               {"PiB", 1125899906842624.0}}};
constexpr std::array<NumberUnit, 4> kRates = {
    {{"B/s", 1}, {"kB/s", 1e3}, {"MB/s", 1e6}, {"GB/s", 1e9}}};

// Three significant digits, whole numbers in full.
std::string three_digits(double value) {
  if (value < 9.995) return fmt::format("{:.2f}", value);
  if (value < 99.95) return fmt::format("{:.1f}", value);
  return fmt::format("{:.0f}", value);
}

// The largest unit the value reaches once it is rounded: 999.6 µs is 1.00 ms.
template <std::size_t N>
std::size_t unit_of(double value, const std::array<NumberUnit, N>& units) {
  std::size_t chosen = 0;
  while (chosen + 1 < N) {
    const double step = units[chosen + 1].size / units[chosen].size;
    const double least = step - (step > 900 ? 0.5 : 0);
    if (value / units[chosen].size < least) break;
    ++chosen;
  }
  return chosen;
}

template <std::size_t N>
std::string with_unit(double value, const std::array<NumberUnit, N>& units) {
  const std::size_t chosen = unit_of(value, units);
  const double scaled = value / units[chosen].size;
  const std::string digits = chosen == 0 ? fmt::format("{:.0f}", scaled) : three_digits(scaled);
  return fmt::format("{} {}", digits, units[chosen].name);
}

std::int64_t floor_divide(std::int64_t value, std::int64_t by) {
  return value / by - (value % by < 0 ? 1 : 0);
}

struct Date {
  std::int64_t year;
  int month, day;
};

// Howard Hinnant's civil_from_days: the Gregorian date of a day counted from 1970-01-01.
Date date_of(std::int64_t days) {
  days += 719468;
  const std::int64_t era = floor_divide(days, 146097);
  const std::int64_t day_of_era = days - era * 146097;
  const std::int64_t year_of_era =
      (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  const std::int64_t day_of_year =
      day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const std::int64_t shifted_month = (5 * day_of_year + 2) / 153;  // March is 0
  const int day = static_cast<int>(day_of_year - (153 * shifted_month + 2) / 5 + 1);
  const int month = static_cast<int>(shifted_month < 10 ? shifted_month + 3 : shifted_month - 9);
  return {year_of_era + era * 400 + (month <= 2 ? 1 : 0), month, day};
}

}  // namespace

std::string duration_text_like(base::Nanos ns, base::Nanos like) {
  const auto size = [](base::Nanos one) { return std::abs(static_cast<double>(one)); };
  const std::size_t chosen = unit_of(size(like), kNumbersTimes);
  const double scaled = size(ns) / kNumbersTimes[chosen].size;
  const std::string_view sign = ns < 0 ? "-" : "";
  if (chosen == 0 || scaled == 0)
    return fmt::format("{}{:.0f} {}", sign, scaled, kNumbersTimes[chosen].name);
  if (scaled < 0.005) return fmt::format("{}<0.01 {}", sign, kNumbersTimes[chosen].name);
  return fmt::format("{}{} {}", sign, three_digits(scaled), kNumbersTimes[chosen].name);
}

std::string durations_text(base::Nanos before, base::Nanos after) {
  constexpr base::Nanos kLost = 100;
  const base::Nanos longer = std::max(std::abs(before), std::abs(after));
  const base::Nanos shorter = std::min(std::abs(before), std::abs(after));
  if (shorter != 0 && longer / kLost > shorter) {
    return fmt::format("{} → {}", duration_text(before), duration_text(after));
  }
  const std::string first = duration_text_like(before, longer);
  return fmt::format("{} → {}", first.substr(0, first.rfind(' ')),
                     duration_text_like(after, longer));
}

std::string duration_text(base::Nanos ns) {
  if (ns >= 0) return with_unit(static_cast<double>(ns), kNumbersTimes);
  return fmt::format("-{}", with_unit(-static_cast<double>(ns), kNumbersTimes));
}

std::string bytes_text(std::uint64_t bytes) {
  return with_unit(static_cast<double>(bytes), kSizes);
}

std::string rate_text(double bytes_per_second) { return with_unit(bytes_per_second, kRates); }

std::string count_text(std::uint64_t count) {
  const std::string digits = std::to_string(count);
  std::string text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

std::string percent_text(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0) return "–";
  if (part == whole) return "100 %";
  if (part == 0) return "0 %";
  const double percent = 100.0 * static_cast<double>(part) / static_cast<double>(whole);
  // Rounding must not claim all or nothing.
  if (percent > 99.9) return ">99.9 %";
  if (percent < 0.1) return "<0.1 %";
  return fmt::format("{:.1f} %", percent);
}

std::string unix_time_text(std::int64_t unix_ns) {
  constexpr std::int64_t kDay = 86'400'000'000'000;
  const std::int64_t days = floor_divide(unix_ns, kDay);
  const std::int64_t milliseconds = (unix_ns - days * kDay) / 1'000'000;
  const Date date = date_of(days);
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02}.{:03} UTC", date.year, date.month,
                     date.day, milliseconds / 3'600'000, milliseconds / 60'000 % 60,
                     milliseconds / 1000 % 60, milliseconds % 1000);
}

std::string counted(std::uint64_t count, const std::string& singular) {
  return count_text(count) + " " + singular + (count == 1 ? "" : "s");
}

}  // namespace stepscope::report
