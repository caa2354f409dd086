// How torch's profiler, and stepscope's own recordings after it, name a step: "ProfilerStep#7".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace stepscope::trace {

// The number at the end of a name, whatever stands before it.
std::optional<std::int64_t> trailing_number(std::string_view name);

std::string step_name(std::int64_t number);
std::optional<std::int64_t> step_number(std::string_view name);  // nothing: it names no step
inline bool names_a_step(std::string_view name) { return step_number(name).has_value(); }

}  // namespace stepscope::trace
