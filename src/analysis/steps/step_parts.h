// What the time of each step went to: device roles first, then what the host did while the device
// did nothing, then the rest. The roles and their order are those of TensorBoard's plugin;
// docs/metrics/steps.md says where ours differ.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "analysis/arithmetic/durations.h"
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

// How long the steps of a rank take, and which of them took much longer than usual.

// The steps of one rank, all its windows.
struct RankSteps {
  struct One {
    std::uint32_t window = 0;
    StepParts step;
  };
  std::int32_t rank = 0;
  std::vector<One> steps;
  base::Nanos stretch = 0;  // from the first to the last step, per window

  Durations durations() const;
  Parts sum() const;
  std::optional<double> per_second() const;  // nothing without time
};

// By rank.
std::vector<RankSteps> steps_by_rank(const RunView& view, Definition definition);

struct Outlier {
  std::size_t index = 0;     // into RankSteps::steps
  base::Nanos median = 0;    // of all steps of the rank
  std::size_t grown = 0;     // the part that is furthest above its own median
  base::Nanos grown_by = 0;  //
};

// How far above the median a step must be: so many times the median distance from the median, and
// at least this share of the median, so that steps that are nearly alike count as alike.
struct OutlierRule {
  std::int64_t deviations = 5;
  double share = 0.1;
};
// The longest first. None among fewer than three steps: nothing is usual there.
std::vector<Outlier> outliers(const RankSteps& rank, const OutlierRule& rule);

}  // namespace stepscope::analysis
