// What is to be recorded, as arguments of stepscope.profile in Python: for the hook that
// `stepscope run` loads into a program, and for stepscope.profile(config=...). Python gives them on
// as they are; whatever the settings file means is decided here.
#pragma once

#include <optional>
#include <string>

#include "session/config/config_file.h"

namespace stepscope::session {

// Where a run is written until the program has ended.
struct StagePlace {
  std::string folder;
  std::string host;  // whose disk that is
};

// JSON, described in docs/formats/config.md. `folder` is where the run goes; empty: where the file
// says, or nowhere.
std::string plan_json(const Config& config, const std::string& folder = {},
                      const std::optional<StagePlace>& stage = std::nullopt);

// The group `benchmark_profiler` with its defaults; empty where the file has none.
std::string anemoi_json(const Config& config);

// The same as the value of a variable.
std::string in_one_line(std::string json);

}  // namespace stepscope::session
