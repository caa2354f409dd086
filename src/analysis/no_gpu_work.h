// What analyses say of a trace without GPU work, which a page says once.
#pragma once

#include <string_view>

namespace stepscope::analysis {

inline constexpr std::string_view kNoGpuWork =
    "The trace has no GPU work: it was recorded on the host alone, or without the GPU activity.";

}  // namespace stepscope::analysis
