// What the time of each step went to: device roles first, then what the host did while the device
// did nothing, then the rest. The roles and their order are those of TensorBoard's plugin;
// docs/metrics/steps.md says where ours differ.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "analysis/steps/step_times.h"
#include "analysis/view.h"

namespace stepscope::analysis {

inline constexpr std::size_t kPartCount = 8;
// By priority; the last is what none of the others explains.
inline constexpr std::array<std::string_view, kPartCount> kPartNames = {
    "kernel", "memcpy", "memset", "communication", "runtime", "dataloader", "cpu_exec", "other"};
using Parts = std::array<base::Nanos, kPartCount>;  // add up to the step

enum class Definition : std::uint8_t { kOurs, kTensorboard };

struct StepParts {
  StepTime step;
  Parts parts{};
};

struct WindowParts {
  std::vector<StepParts> steps;  // the selected ones by start; the whole window where it has none
  base::Nanos stretch = 0;       // from the first to the last of them (see stretches)
};
// Made once per window.
const WindowParts& step_parts(const WindowView& window);
// As TensorBoard's plugin does it.
WindowParts tensorboard_step_parts(const WindowView& window);

}  // namespace stepscope::analysis
