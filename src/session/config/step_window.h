// Steps as they are chosen on the command line and in the settings file. Counts and meanings are
// those of stepscope.schedule in Python.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace stepscope::session {

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

}  // namespace stepscope::session
