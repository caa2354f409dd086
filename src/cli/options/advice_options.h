// The option by which a user sets thresholds of rules.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/command.h"
#include "cli/options/arguments.h"
#include "session/user_files/thresholds_file.h"

namespace stepscope::cli {

inline constexpr Option kThresholdsOption{
    .name = "thresholds",
    .value = "FILE",
    .help = "YAML with thresholds of rules, where the program's own are not right",
    .completes = Completes::kFiles};

base::Result<advice::OwnThresholds> thresholds_from(const Arguments& arguments);

// The paths as they can be typed again in a shell; empty where one is standard input.
std::string typed_paths(const Arguments& arguments);

}  // namespace stepscope::cli
