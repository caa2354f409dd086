// The options of `stepscope sweep`, understood.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/options/arguments.h"
#include "session/compare/loader_sweep.h"

namespace stepscope::cli {

// "2m", "90s", "1.5h" or "90": seconds.
base::Result<double> seconds_from(std::string_view text, std::string_view origin);

// The values of each option that was given: "0,2,4-8" or "true,false".
base::Result<analysis::LoaderChoices> choices_from(const Arguments& arguments);

// 0, 1, 2, 4, … up to the CPUs of the job.
std::vector<std::int64_t> usual_workers(unsigned cpus);

// "num-workers" of num_workers.
std::string option_of(const analysis::LoaderSettingInfo& info);

}  // namespace stepscope::cli
