// Where in a model memory was asked for, as the recorder notes it instead of a stack:
// "stepscope: forward pass / GPT / blocks.3 (Block)". Read as a stack whose frames have no file.
#pragma once

#include <string_view>

namespace stepscope::memory {

inline constexpr std::string_view kPlaceMark = "stepscope: ";
inline constexpr std::string_view kPlaceBetween = " / ";

// The outermost frame says which pass it is; a checkpoint's forward pass stands within a backward.
inline constexpr std::string_view kForwardPass = "forward pass";
inline constexpr std::string_view kBackwardPass = "backward pass";
inline constexpr std::string_view kOptimizerStep = "optimizer step";
inline constexpr std::string_view kOutsideOfModules = "outside of modules";

constexpr bool names_a_pass(std::string_view frame) {
  return frame == kForwardPass || frame == kBackwardPass || frame == kOptimizerStep ||
         frame == kOutsideOfModules;
}

}  // namespace stepscope::memory
