// The YAML file with the limits of `stepscope check` (docs/formats/check-rules.md).
#pragma once

#include <string>
#include <string_view>

#include "analysis/compare/gate.h"
#include "base/result.h"

namespace stepscope::session {

base::Result<analysis::GateRules> read_gate_rules(const std::string& path);

// Errors begin with `name` and the place, and name the nearest right word: "ci.yaml:3:7: …".
base::Result<analysis::GateRules> parse_gate_rules(const std::string& text, std::string_view name);

}  // namespace stepscope::session
