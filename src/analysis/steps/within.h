// Which time a breakdown is of: the steps that were asked for, or the stretch in which the device
// had something to do.
#pragma once

#include <array>
#include <string_view>

#include "analysis/analysis.h"
#include "analysis/view.h"

namespace stepscope::analysis {

inline constexpr std::array<std::string_view, 2> kWithinChoices = {"steps", "work"};
inline constexpr Parameter kWithin{
    "within", ParameterType::kChoice, "steps",
    "what is measured: the steps, or from the first to the last device event", kWithinChoices};

enum class Within : std::uint8_t { kSteps, kWork };
Within within_of(const Options& options);

// For kWork: from the first to the last event of this device that counts.
Intervals measured_time(const WindowView& window, const DeviceView& device, Within within);

}  // namespace stepscope::analysis
