#include "cli/sweep/sweep_choices.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "base/ascii.h"
#include "base/number_list.h"

namespace stepscope::cli {
namespace {

using base::Code;
using base::fail;

constexpr std::int64_t kMostWorkers = 1024;
constexpr std::int64_t kMostValue = 1'000'000'000;
constexpr std::size_t kMostValues = 64;

std::optional<std::int64_t> switch_from(std::string_view word) {
  const std::string lower = base::lowered(word);
  for (const std::string_view on : {"true", "1", "yes", "on"}) {
    if (lower == on) return 1;
  }
  for (const std::string_view off : {"false", "0", "no", "off"}) {
    if (lower == off) return 0;
  }
  return std::nullopt;
}

std::optional<std::vector<std::int64_t>> switches_from(std::string_view text) {
  std::vector<std::int64_t> out;
  while (true) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const auto value = switch_from(text.substr(0, comma));
    if (!value) return std::nullopt;
    out.push_back(*value);
    if (comma == text.size()) return out;
    text.remove_prefix(comma + 1);
  }
}

}  // namespace

base::Result<double> seconds_from(std::string_view text, std::string_view origin) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  const double factor = unit.empty() || unit == "s"    ? 1
                        : unit == "m" || unit == "min" ? 60
                        : unit == "h"                  ? 3600
                                                       : 0;
  constexpr double kLongest = 7 * 24 * 3600.0;
  if (error != std::errc() || factor == 0 || !(value > 0) || value * factor > kLongest) {
    return fail(
        Code::kInvalidArgument,
        fmt::format("{}: '{}' is not a length of time such as 90s, 2m or 1h", origin, text));
  }
  return value * factor;
}

std::string option_of(const analysis::LoaderSettingInfo& info) {
  std::string name(info.name);
  std::ranges::replace(name, '_', '-');
  return name;
}

base::Result<analysis::LoaderChoices> choices_from(const Arguments& arguments) {
  analysis::LoaderChoices out;
  for (std::size_t i = 0; i < analysis::kLoaderSettings; ++i) {
    const auto setting = static_cast<analysis::LoaderSetting>(i);
    const analysis::LoaderSettingInfo& info = analysis::info_of(setting);
    const std::string option = option_of(info);
    if (!arguments.has_option(option)) continue;
    const std::string text = arguments.text(option);
    const auto values = info.is_switch ? switches_from(text) : base::parse_number_list(text);
    const std::int64_t least = setting == analysis::LoaderSetting::kNumWorkers ? 0 : 1;
    const std::int64_t most =
        setting == analysis::LoaderSetting::kNumWorkers ? kMostWorkers : kMostValue;
    const bool good = values && !values->empty() && values->size() <= kMostValues &&
                      (info.is_switch || std::ranges::all_of(*values, [&](std::int64_t value) {
                         return value >= least && value <= most;
                       }));
    if (!good) {
      return fail(
          Code::kInvalidArgument,
          info.is_switch
              ? fmt::format("{}: '{}' is not a list such as true,false", arguments.origin(option),
                            text)
              : fmt::format("{}: '{}' is not a list of numbers from {} on, such as {}",
                            arguments.origin(option), text, least, least == 0 ? "0,2,4,8" : "2,4"));
    }
    for (const std::int64_t value : *values) {
      std::vector<std::int64_t>& chosen = out[setting];
      if (std::ranges::find(chosen, value) == chosen.end()) chosen.push_back(value);
    }
  }
  return out;
}

std::vector<std::int64_t> usual_workers(unsigned cpus) {
  std::vector<std::int64_t> out = {0};
  for (std::int64_t workers = 1; workers < static_cast<std::int64_t>(cpus); workers *= 2) {
    out.push_back(workers);
  }
  out.push_back(static_cast<std::int64_t>(cpus));
  return out;
}

}  // namespace stepscope::cli
