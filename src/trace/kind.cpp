// What kind of work an event is, by its category.
#include "trace/kind.h"

#include <algorithm>
#include <array>

#include "base/ascii.h"
#include "trace/step_names.h"

namespace stepscope::trace {
namespace {

struct CategoryKind {
  std::string_view category;  // lower case: spellings changed their case over the years
  Kind kind;
};

constexpr std::array kCategories = std::to_array<CategoryKind>({
    {"cpu_op", Kind::kCpuOp},
    {"operator", Kind::kCpuOp},
    {"glow_operator", Kind::kCpuOp},
    {"hpu_op", Kind::kCpuOp},
    {"user_annotation", Kind::kAnnotation},
    {"python_function", Kind::kPython},
    {"cuda_runtime", Kind::kRuntime},
    {"runtime", Kind::kRuntime},
    {"hip_runtime", Kind::kRuntime},
    {"xpu_runtime", Kind::kRuntime},
    {"mtia_runtime", Kind::kRuntime},
    {"glow_runtime", Kind::kRuntime},
    {"privateuse1_runtime", Kind::kRuntime},
    {"cuda_driver", Kind::kDriver},
    {"xpu_driver", Kind::kDriver},
    {"privateuse1_driver", Kind::kDriver},
    {"kernel", Kind::kKernel},
    {"mtia_ccp_events", Kind::kKernel},
    {"gpu_memcpy", Kind::kMemcpy},
    {"memcpy", Kind::kMemcpy},
    {"gpu_memset", Kind::kMemset},
    {"memset", Kind::kMemset},
    {"gpu_user_annotation", Kind::kGpuAnnotation},
    {"cuda_sync", Kind::kSync},
    {"xpu_sync", Kind::kSync},
    {"cuda_event", Kind::kDeviceMarker},
    {"overhead", Kind::kOverhead},
    {"memory", Kind::kMemory},
    {"mtia_counters", Kind::kCounter},
    {"hardware_counters", Kind::kCounter},
    {"xpu_scope_profiler", Kind::kCounter},
    {"trace", Kind::kProfiler},
    {"collective_comm", Kind::kCollective},
    {"cuda_profiler_range", Kind::kProfilerRange},
});

constexpr std::array<std::string_view, static_cast<std::size_t>(Kind::kCount)> kNames = {
    "other",    "cpu_op", "annotation", "python",         "runtime",    "driver",
    "kernel",   "memcpy", "memset",     "gpu_annotation", "sync",       "device_marker",
    "overhead", "memory", "counter",    "profiler",       "collective", "profiler_range",
};

bool equal_ignoring_case(std::string_view text, std::string_view lower) {
  return std::equal(text.begin(), text.end(), lower.begin(), lower.end(),
                    [](char a, char b) { return base::lowered(a) == b; });
}

}  // namespace

std::string_view name_of(Kind kind) { return kNames[static_cast<std::size_t>(kind)]; }

Kind kind_of(std::string_view category, std::string_view name) {
  if (name == "[memory]") return Kind::kMemory;
  const auto* found = std::find_if(
      kCategories.begin(), kCategories.end(),
      [&](const CategoryKind& row) { return equal_ignoring_case(category, row.category); });
  if (found != kCategories.end()) {
    // Until 2022 the steps were written as operators.
    if (found->kind == Kind::kCpuOp && names_a_step(name)) return Kind::kAnnotation;
    return found->kind;
  }
  if (name.starts_with("Iteration Start: ") || name == "Record Window End") return Kind::kProfiler;
  return Kind::kOther;
}

}  // namespace stepscope::trace
