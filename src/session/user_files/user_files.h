// The small YAML files of users: limits of `check`, peaks of devices, thresholds of rules.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "advice/thresholds.h"
#include "analysis/compare/gate.h"
#include "analysis/costs/peaks.h"
#include "base/result.h"

namespace stepscope::session {

// The YAML file with the limits of `stepscope check` (docs/formats/check-rules.md).

base::Result<analysis::GateRules> read_gate_rules(const std::string& path);

// Errors begin with `name` and the place, and name the nearest right word: "ci.yaml:3:7: …".
base::Result<analysis::GateRules> parse_gate_rules(const std::string& text, std::string_view name);

// The YAML file in which a user says what devices can do at best (docs/metrics/peaks.md).

base::Result<std::vector<analysis::OwnPeaks>> read_peaks(const std::string& path);

// Errors begin with `name` and the place: "peaks.yaml:3:7: …".
base::Result<std::vector<analysis::OwnPeaks>> parse_peaks(const std::string& text,
                                                          std::string_view name);

// The YAML file in which a user sets thresholds of rules (docs/advice/README.md).

base::Result<advice::OwnThresholds> read_thresholds(const std::string& path);

// Errors begin with `name` and the place: "rules.yaml:3:7: …".
base::Result<advice::OwnThresholds> parse_thresholds(const std::string& text,
                                                     std::string_view name);

}  // namespace stepscope::session
