// The time of each step in the categories of TensorFlow's profiler: device first, then what the
// host did while no device worked, by the priorities of its step-time graph. Which event counts as
// what: docs/metrics/steps-tensorflow.md.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "analysis/steps/step_times.h"
#include "analysis/view.h"

namespace stepscope::analysis {

inline constexpr std::size_t kTensorflowPartCount = 11;
// As TensorFlow's profiler lists them, with a third kind of computing: number width unknown.
inline constexpr std::array<std::string_view, kTensorflowPartCount> kTensorflowPartNames = {
    "compute_16bit", "compute_32bit", "compute_unknown", "device_to_device", "collectives",
    "host_compute",  "kernel_launch", "input",           "output",           "compilation",
    "other"};
using TensorflowParts = std::array<base::Nanos, kTensorflowPartCount>;  // add up to the step

struct TensorflowStep {
  StepTime step;
  TensorflowParts parts{};
};

// The selected steps of a window, by start.
std::vector<TensorflowStep> tensorflow_parts(const WindowView& window);

// A call or range that compiles or loads code: inductor's phases, module loading.
bool names_compilation(std::string_view range);

}  // namespace stepscope::analysis
