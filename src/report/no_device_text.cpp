#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/info_text.h"

namespace stepscope::report {
namespace {

struct Reason {
  std::string_view what, check;
};

constexpr Reason kRestricted = {
    "The driver reserves GPU profiling for administrators",
    "grep RmProfilingAdminOnly /proc/driver/nvidia/params: 1 means restricted"};
constexpr Reason kTaken = {
    "Another profiler holds CUPTI (nsys, ncu, DCGM profiling, a second torch.profiler)",
    "run without them"};
constexpr Reason kContainer = {"The container lacks the rights or the CUPTI library",
                               "look for CUPTI errors in the job's log"};
constexpr Reason kFlushed = {"The recording ended before the GPU's records were written",
                             "call torch.cuda.synchronize() before the profiler stops"};
constexpr Reason kActivities = {"The profiler was asked for the CPU only",
                                "activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]"};
constexpr Reason kUnused = {
    "Nothing ran on a GPU between start and stop",
    "print(next(model.parameters()).device), and the schedule's active steps"};
constexpr Reason kBuild = {"This PyTorch was built without a GPU profiler",
                           "torch.profiler.supported_activities() must list CUDA or XPU"};
constexpr Reason kInvisible = {"The process saw no GPU",
                               "torch.cuda.is_available(), CUDA_VISIBLE_DEVICES"};

constexpr Reason kWhenNotPermitted[] = {kRestricted, kTaken, kContainer, kFlushed};
constexpr Reason kWhenHostOnly[] = {kActivities, kUnused, kBuild, kRestricted};
constexpr Reason kWhenNoDevice[] = {kInvisible, kActivities, kBuild};

std::span<const Reason> reasons(NoDeviceCause cause) {
  switch (cause) {
    case NoDeviceCause::kNotPermitted:
      return kWhenNotPermitted;
    case NoDeviceCause::kHostOnly:
      return kWhenHostOnly;
    case NoDeviceCause::kNoDevice:
      break;
  }
  return kWhenNoDevice;
}

std::string_view headline(NoDeviceCause cause) {
  switch (cause) {
    case NoDeviceCause::kNotPermitted:
      return "No GPU work was recorded, though the program called the GPU runtime.";
    case NoDeviceCause::kHostOnly:
      return "No GPU work was recorded, and no calls into the GPU runtime.";
    case NoDeviceCause::kNoDevice:
      break;
  }
  return "No GPU work was recorded: the profiler knew of no GPU.";
}

}  // namespace

std::string no_device_text(NoDeviceCause cause, const Look& look) {
  std::string text = styled(headline(cause), Style::kWarning, look) + "\n";
  TextTable table(
      {{"Usual reasons", Align::kLeft, Fit::kWrap}, {"to check", Align::kLeft, Fit::kWrap}});
  for (const Reason& reason : reasons(cause)) {
    table.add({std::string(reason.what), std::string(reason.check)});
  }
  return text + table.render(look) +
         styled("  How to mend each: docs/start/no-gpu-events.md\n", Style::kFaint, look);
}

}  // namespace stepscope::report
