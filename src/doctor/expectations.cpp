// Parses expectations such as `gemm-bf16=70%` and judges measurements by them.
#include <algorithm>
#include <charconv>
#include <sstream>

#include <fmt/format.h>

#include "doctor/checks.h"
#include "doctor/doctor.h"

namespace stepscope::doctor {

using base::Code;
using base::fail;

std::vector<std::string_view> measurement_names() {
  std::vector<std::string_view> names;
  for (const Measurement& measurement : measurements()) {
    names.insert(names.end(), measurement.names.begin(), measurement.names.end());
  }
  return names;
}

base::Result<std::map<std::string, Expectation, std::less<>>> parse_expectations(
    const std::string& text) {
  std::map<std::string, Expectation, std::less<>> all;
  const std::vector<std::string_view> names = measurement_names();
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    const std::size_t equals = part.find('=');
    const std::string name = part.substr(0, equals);
    if (std::ranges::find(names, name) == names.end()) {
      return fail(Code::kInvalidArgument,
                  fmt::format("'{}' is not measured; there are {}", name, fmt::join(names, ", ")));
    }
    const std::string number = equals == std::string::npos ? "" : part.substr(equals + 1);
    Expectation expectation;
    const char* last = number.data() + number.size();
    const auto [end, error] = std::from_chars(number.data(), last, expectation.value);
    expectation.is_share = error == std::errc() && end + 1 == last && *end == '%';
    const bool whole = error == std::errc() && (end == last || expectation.is_share);
    if (!whole || !(expectation.value >= 0) || expectation.value > 1e9) {
      return fail(Code::kInvalidArgument,
                  fmt::format("'{}' is not NAME=NUMBER or NAME=PERCENT%", part));
    }
    all[name] = expectation;
  }
  return all;
}

void judge(Check& check, const std::map<std::string, Expectation, std::less<>>& expected) {
  const auto found = expected.find(check.name);
  const bool asked = found != expected.end();
  if (asked && !found->second.is_share) {
    check.expected = found->second.value;
  } else if (check.reference && (asked || check.expected_share)) {
    check.expected =
        *check.reference * (asked ? found->second.value / 100 : check.expected_share.value_or(0));
  }
  if (!check.measured) {
    // The user relies on it, and it could not be measured.
    if (asked) check.state = State::kBad;
    return;
  }
  if (!check.expected) {
    check.state = asked ? State::kBad : State::kMeasured;
    if (asked) check.means = "a share was expected, and what the device can do is not known";
    return;
  }
  check.state = *check.measured >= *check.expected ? State::kGood : State::kBad;
  if (check.state == State::kGood) check.todo.clear();
}

}  // namespace stepscope::doctor
