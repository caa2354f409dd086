// The YAML file in which a user sets thresholds of rules (docs/advice/README.md).
#pragma once

#include <string>
#include <string_view>

#include "advice/thresholds.h"
#include "base/result.h"

namespace stepscope::session {

base::Result<advice::OwnThresholds> read_thresholds(const std::string& path);

// Errors begin with `name` and the place: "rules.yaml:3:7: …".
base::Result<advice::OwnThresholds> parse_thresholds(const std::string& text,
                                                     std::string_view name);

}  // namespace stepscope::session
