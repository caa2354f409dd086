// Checks the parameters of an analysis against its row, and reads their values.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "analysis/analysis.h"
#include "base/size_text.h"

namespace stepscope::analysis {
namespace {

std::optional<double> leading_number(std::string_view& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || !std::isfinite(value) || value < 0) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  while (text.starts_with(' ')) text.remove_prefix(1);
  return value;
}

std::optional<std::int64_t> count_from(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

std::optional<std::int64_t> duration_from(std::string_view text) {
  const auto number = leading_number(text);
  if (!number) return std::nullopt;
  double factor = 0;
  if (text.empty() || text == "ns") factor = 1;
  if (text == "us" || text == "µs") factor = 1e3;
  if (text == "ms") factor = 1e6;
  if (text == "s") factor = 1e9;
  if (factor == 0 || *number * factor > 9e18) return std::nullopt;
  return static_cast<std::int64_t>(std::llround(*number * factor));
}

std::optional<double> number_from(std::string_view text) {
  const auto number = leading_number(text);
  return text.empty() ? number : std::nullopt;
}

std::optional<double> share_from(std::string_view text) {
  auto number = leading_number(text);
  if (!number) return std::nullopt;
  if (text == "%") {
    *number /= 100;
  } else if (!text.empty()) {
    return std::nullopt;
  }
  return *number <= 1 ? number : std::nullopt;
}

std::string expected(const Parameter& parameter) {
  switch (parameter.type) {
    case ParameterType::kCount:
      return "a whole number, 0 or more";
    case ParameterType::kNumber:
      return "a number, 0 or more, such as 380.5";
    case ParameterType::kDuration:
      return "a length of time such as 30us, 1.5ms or 2s";
    case ParameterType::kShare:
      return "a share such as 0.2 or 20%";
    case ParameterType::kSize:
      return "a size such as 80GiB or 500MB";
    case ParameterType::kChoice:
      return fmt::format("one of {}", fmt::join(parameter.choices, ", "));
    case ParameterType::kSwitch:
      return "true or false";
    case ParameterType::kText:
      break;
  }
  return "text";
}

}  // namespace

base::Result<Options> parse_options(std::span<const Parameter> parameters,
                                    const std::map<std::string, std::string>& given) {
  for (const auto& [name, value] : given) {
    if (std::ranges::find(parameters, name, &Parameter::name) != parameters.end()) continue;
    return base::fail(base::Code::kInvalidArgument, fmt::format("there is no option '{}'", name));
  }
  Options options;
  for (const Parameter& parameter : parameters) {
    const std::string name(parameter.name);
    const auto found = given.find(name);
    const std::string value =
        found == given.end() ? std::string(parameter.default_value) : found->second;
    std::optional<std::int64_t> whole;
    std::optional<double> real;
    bool good = true;
    switch (parameter.type) {
      case ParameterType::kCount:
        whole = count_from(value);
        good = whole.has_value();
        break;
      case ParameterType::kNumber:
        real = number_from(value);
        good = real.has_value();
        break;
      case ParameterType::kDuration:
        whole = duration_from(value);
        good = whole.has_value();
        break;
      case ParameterType::kShare:
        real = share_from(value);
        good = real.has_value();
        break;
      case ParameterType::kSize:
        whole = base::parse_size(value);
        good = whole.has_value() || (found == given.end() && value.empty());
        break;
      case ParameterType::kSwitch:
        if (value.empty() || value == "false" || value == "0") whole = 0;
        if (value == "true" || value == "1") whole = 1;
        good = whole.has_value();
        break;
      case ParameterType::kChoice:
        good = std::ranges::find(parameter.choices, value) != parameter.choices.end();
        break;
      case ParameterType::kText:
        break;
    }
    if (!good) {
      return base::fail(base::Code::kInvalidArgument,
                        fmt::format("{}: '{}' is not {}", name, value, expected(parameter)));
    }
    if (const std::string meant = base::unit_forgotten(value);
        parameter.type == ParameterType::kSize && !meant.empty()) {
      return base::fail(
          base::Code::kInvalidArgument,
          fmt::format("{}: '{}' is a size in bytes: {} is meant, most likely", name, value, meant));
    }
    if (whole) options.whole_[name] = *whole;
    if (real) options.real_[name] = *real;
    options.text_[name] = value;
  }
  return options;
}

}  // namespace stepscope::analysis
