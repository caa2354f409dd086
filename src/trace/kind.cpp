// What kind of work an event is, by its category.
#include "trace/kind.h"

#include <algorithm>
#include <array>
#include <string>

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

// Of categories that hold several kinds: the names that are another kind than the category's.
struct NamedKind {
  std::string_view category, name;
  Kind kind;
};
constexpr std::array kNamed = std::to_array<NamedKind>({
    {"mtia_ccp_events", "event_wait", Kind::kSync},
    {"mtia_ccp_events", "event_record", Kind::kDeviceMarker},
    {"mtia_ccp_events", "dma_request", Kind::kMemcpy},
});

// What holds one of these is no kernel; the first that is held decides.
struct TaskKind {
  std::string_view part;
  Kind kind;
};
constexpr std::array kTasks = std::to_array<TaskKind>({
    {"WAIT", Kind::kSync},
    {"RECORD", Kind::kDeviceMarker},
    {"MEMCPY", Kind::kMemcpy},
    {"DMA", Kind::kMemcpy},
    {"PLACE_HOLDER", Kind::kOther},
    {"PROFILER", Kind::kOther},
    {"MODEL_", Kind::kOther},
    {"STREAM_", Kind::kOther},
    {"LABEL_", Kind::kOther},
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
    const auto* const named = std::ranges::find_if(kNamed, [&](const NamedKind& row) {
      return row.category == found->category && row.name == name;
    });
    return named == kNamed.end() ? found->kind : named->kind;
  }
  if (name.starts_with("Iteration Start: ") || name == "Record Window End") return Kind::kProfiler;
  return Kind::kOther;
}

Kind kind_by_category(std::string_view category) {
  const bool name_decides = std::ranges::any_of(
      kNamed, [&](const NamedKind& row) { return equal_ignoring_case(category, row.category); });
  return name_decides ? Kind::kOther : kind_of(category, {});
}

Kind kind_of_task(std::string_view task_type) {
  const std::string upper = base::uppered(task_type);
  const auto* const found = std::ranges::find_if(
      kTasks, [&](const TaskKind& row) { return upper.find(row.part) != std::string::npos; });
  return found == kTasks.end() ? Kind::kKernel : found->kind;
}

bool names_ascend_collective(std::string_view name) { return name.starts_with("hcom_"); }

}  // namespace stepscope::trace
