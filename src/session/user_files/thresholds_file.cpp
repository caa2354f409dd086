// Reads thresholds of rules.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "session/user_files/user_files.h"
#include "session/user_files/yaml_file.h"

namespace stepscope::session {
namespace {

using advice::OwnThresholds;
using advice::Threshold;

std::vector<std::string_view> names_of(std::string_view rule) {
  std::vector<std::string_view> names;
  for (const Threshold& one : advice::thresholds()) {
    const std::string_view name = rule.empty() ? one.rule : one.name;
    if (!rule.empty() && one.rule != rule) continue;
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  return names;
}

// Levels rise: a threshold above that of a graver level would never be used.
std::string out_of_order(std::string_view rule, const OwnThresholds& own) {
  constexpr std::array<std::string_view, 3> kRising = {"notice", "warning", "critical"};
  for (std::size_t i = 1; i < kRising.size(); ++i) {
    if (advice::find_threshold(rule, kRising[i - 1]) == nullptr ||
        advice::find_threshold(rule, kRising[i]) == nullptr) {
      continue;
    }
    const double lower = advice::value_of(rule, kRising[i - 1], own);
    const double upper = advice::value_of(rule, kRising[i], own);
    if (lower <= upper) continue;
    return fmt::format(
        "'{}': {} ({}) is above {} ({}), which could never be reached alone: set "
        "both",
        rule, kRising[i - 1], lower, kRising[i], upper);
  }
  return {};
}

base::Result<OwnThresholds> file(const YAML::Node& root, std::string_view name) {
  if (!root.IsMap()) {
    return wrong_at(name, root, "expected rules with thresholds: 'input-bound: {warning: 0.15}'");
  }
  OwnThresholds out;
  for (const auto& entry : root) {
    const std::string rule = scalar_of(entry.first);
    const std::vector<std::string_view> known = names_of(rule);
    if (rule.empty() || known.empty()) {
      return wrong_at(
          name, entry.first,
          fmt::format("'{}' is no rule with thresholds{}", rule, meant(rule, names_of(""))));
    }
    if (!entry.second.IsMap()) {
      return wrong_at(name, entry.second, fmt::format("'{}' takes thresholds with numbers", rule));
    }
    for (const auto& threshold : entry.second) {
      const std::string what = scalar_of(threshold.first);
      if (advice::find_threshold(rule, what) == nullptr) {
        return wrong_at(
            name, threshold.first,
            fmt::format("'{}' has no threshold '{}'{}", rule, what, meant(what, known)));
      }
      double value = 0;
      if (!threshold.second.IsScalar() || !YAML::convert<double>::decode(threshold.second, value) ||
          !std::isfinite(value) || value < 0) {
        return wrong_at(name, threshold.second,
                        fmt::format("'{}' takes a number, 0 or more", what));
      }
      out[fmt::format("{}.{}", rule, what)] = value;
    }
    if (const std::string wrong = out_of_order(rule, out); !wrong.empty()) {
      return wrong_at(name, entry.second, wrong);
    }
  }
  return out;
}

}  // namespace

base::Result<OwnThresholds> parse_thresholds(const std::string& text, std::string_view name) {
  return with_yaml<OwnThresholds>(text, name,
                                  [&](const YAML::Node& root) { return file(root, name); });
}

base::Result<OwnThresholds> read_thresholds(const std::string& path) {
  SCOPE_TRY(const std::string text, read_small_file(path));
  return parse_thresholds(text, path);
}

}  // namespace stepscope::session
