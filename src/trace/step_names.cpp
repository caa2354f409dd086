// How torch's profiler, and recordings after it, name a step.
#include "trace/step_names.h"

#include <charconv>

namespace stepscope::trace {
namespace {

constexpr std::string_view kProfilerStep = "ProfilerStep#";

}  // namespace

std::string step_name(std::int64_t number) {
  return std::string(kProfilerStep) + std::to_string(number);
}

std::optional<std::int64_t> step_number(std::string_view name) {
  if (!name.starts_with(kProfilerStep)) return std::nullopt;
  return trailing_number(name);
}

std::optional<std::int64_t> trailing_number(std::string_view name) {
  std::size_t at = name.size();
  while (at > 0 && name[at - 1] >= '0' && name[at - 1] <= '9') --at;
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(name.data() + at, name.data() + name.size(), number);
  if (at == name.size() || error != std::errc()) return std::nullopt;
  return number;
}

}  // namespace stepscope::trace
