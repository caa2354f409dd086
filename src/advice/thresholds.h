// Every number a rule compares with, in one table. docs/advice/README.md shows it and is checked
// against it; a YAML file overrides it.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

#include "base/table.h"

namespace stepscope::advice {

struct Threshold {
  std::string_view rule, name;
  double default_value = 0;
  base::Unit unit = base::Unit::kShare;
  std::string_view about = {};
};

std::span<const Threshold> thresholds();
const Threshold* find_threshold(std::string_view rule, std::string_view name);

// What the user set instead, by "rule.name".
using OwnThresholds = std::map<std::string, double>;
double value_of(std::string_view rule, std::string_view name, const OwnThresholds& own);

}  // namespace stepscope::advice
