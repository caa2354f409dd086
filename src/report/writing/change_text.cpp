// Changes with as many digits as their error leaves.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include <fmt/format.h>

#include "report/writing/numbers.h"

namespace stepscope::report {
namespace {

// After the point, as an error of that size leaves them.
int digits_for(double error) {
  const double scale = 100 * std::abs(error);
  return scale >= 1 ? 0 : scale >= 0.1 ? 1 : 2;
}

// Zero has no sign but this one.
std::string signed_hundredths(double value, double error) {
  const double percent = 100 * value;
  const std::string text = fmt::format("{:.{}f}", std::abs(percent), digits_for(error));
  const bool is_zero = text.find_first_of("123456789") == std::string::npos;
  return fmt::format("{}{}", percent < 0 && !is_zero ? "−" : "+", text);
}

// The error that says how many digits are shown. A change that is surely one must not look like
// none: "−2.3 % ± 1.9 %", not "−2 % ± 2 %".
double shown_error(double low, double high) {
  const double error = (high - low) / 2;
  const double nearest = std::min(std::abs(low), std::abs(high));
  return low * high > 0 ? std::min(error, nearest) : error;
}

// Whether "+46.2 % ± 46.8 %" would be read as a change that may be none, of one whose bounds say
// that it is one.
bool would_reach_zero(double share, double low, double high) {
  if (low * high <= 0) return false;
  const double scale = 100 * std::pow(10.0, digits_for(shown_error(low, high)));
  return std::round(scale * std::abs(share)) <= std::round(scale * (high - low) / 2);
}

}  // namespace

std::string times_as_much(double share) {
  const double ratio = 1 + share;
  constexpr double kWhole = 100;
  constexpr double kMost = 1e15;
  if (ratio < kWhole) return fmt::format("{:.1f} times", ratio);
  return count_text(static_cast<std::uint64_t>(std::llround(std::min(ratio, kMost)))) + " times";
}

std::string signed_share_text(double share, std::optional<double> error) {
  if (share > kMostAsShare) return times_as_much(share);
  return signed_hundredths(share, error.value_or(share / 10)) + " %";
}

std::string amount_of_change_text(double share) {
  const std::string text = signed_share_text(share);
  return text.starts_with('+') ? text.substr(1) : text;
}

std::string bounded_share_text(double share, double low, double high) {
  constexpr double kLopsided = 0.1;
  const double error = shown_error(low, high);
  if (high > kMostAsShare) {
    std::string least = signed_share_text(low, error);
    if (low > kMostAsShare) least.resize(least.find(' '));  // the unit once
    return fmt::format("{}, between {} and {}", signed_share_text(share, error), least,
                       signed_share_text(high, error));
  }
  if (std::abs((low + high) / 2 - share) > kLopsided * (high - low) / 2 ||
      would_reach_zero(share, low, high)) {
    return fmt::format("{}, between {} and {}", signed_share_text(share, error),
                       signed_share_text(low, error), signed_share_text(high, error));
  }
  return fmt::format("{} ± {}", signed_share_text(share, error),
                     signed_share_text((high - low) / 2, error).substr(1));
}

std::string points_text(double change) {
  return signed_hundredths(change, change / 10) + " points";
}

std::string bounded_points_text(double change, double low, double high) {
  const double error = (high - low) / 2;
  return fmt::format("{} points ± {}", signed_hundredths(change, error),
                     signed_hundredths(error, error).substr(1));
}

std::string left_out_steps_text(std::size_t warmup, std::size_t in_windows) {
  if (in_windows == 0) {
    return warmup == 0 ? std::string() : fmt::format(" ({} of warm-up left out)", warmup);
  }
  return fmt::format(" (left out: {}{} in trace windows and beside them)",
                     warmup == 0 ? "" : fmt::format("{} of warm-up, ", warmup), in_windows);
}

}  // namespace stepscope::report
