// What is to be recorded, as arguments of stepscope.profile in Python: for the hook that
// `stepscope run` loads into a program, and for stepscope.profile(config=...). Python gives them on
// as they are; whatever the settings file means is decided here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "session/config/config_file.h"

namespace stepscope::session {

// Steps as they are chosen on the command line and in the settings file. Counts and meanings are
// those of stepscope.schedule in Python.

// Steps first, first + 1, ..., stop - 1; of the run, or of an epoch.
struct StepWindow {
  std::int64_t first = 0;
  std::optional<std::int64_t> stop;   // none: to the end of the epoch
  std::optional<std::int64_t> epoch;  // none: counted over the whole run
  std::int64_t warmup = 1;            // steps before it that are traced and thrown away
};

// "10:15": steps 10 to 14, as in a slice. `name` is what errors call it.
base::Result<StepWindow> parse_steps(std::string_view text, std::string_view name);

// "4": epoch 4, whole; "4:10-20": its batches 10 to 20.
base::Result<StepWindow> parse_epoch(std::string_view text, std::string_view name);

// "10-20": batches 10 to 20 of every epoch; "10": batch 10.
base::Result<StepWindow> parse_batches(std::string_view text, std::string_view name);

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
