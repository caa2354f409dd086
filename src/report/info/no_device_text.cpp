// What to check when a trace has no GPU work.
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/info/info_text.h"

namespace stepscope::report {
namespace {

struct Reason {
  std::string_view what, check;
};

constexpr Reason kDropped = {
    "The profiler dropped the records as outside of its window",
    "KINETO_LOG_LEVEL=0: \"Out-of-range = N\" in the log; record with warmup=1 or more"};
constexpr Reason kFlushed = {"The recording stopped before the GPU had finished",
                             "call torch.cuda.synchronize() before the profiler stops"};
constexpr Reason kNoTracing = {"CUPTI cannot trace here (WSL, an old driver)",
                               "look for CUPTI errors in the job's log"};
constexpr Reason kActivities = {"The profiler was asked for the CPU only",
                                "activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]"};
constexpr Reason kRestricted = {
    "Profiling is reserved for administrators, or the container lacks the right",
    "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES in the log; RmProfilingAdminOnly: 1 in "
    "/proc/driver/nvidia/params"};
constexpr Reason kTaken = {"Another profiler holds CUPTI (nsys, ncu, a second torch.profiler)",
                           "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED in the log"};
constexpr Reason kUnused = {"Nothing ran on a GPU between start and stop",
                            "the model's device, and the active steps of the schedule"};
constexpr Reason kBuild = {"This PyTorch has no GPU profiler built in",
                           "torch.profiler.supported_activities() must list CUDA or XPU"};
constexpr Reason kInvisible = {"The process saw no GPU",
                               "torch.cuda.is_available(), CUDA_VISIBLE_DEVICES"};

constexpr Reason kCutCopy = {"The file was copied or downloaded in part",
                             "its size where it was written; copy it again"};
constexpr Reason kCutExport = {"The process ended, or the disk was full, while it was written",
                               "df; time limits of the job; wait for the export before exit"};

constexpr Reason kHuge = {"An event has an argument of that size",
                          "the place below; leave it out where the program writes it"};
constexpr Reason kZeros = {"The machine crashed while it was written, which left zeros",
                           "the bytes at the place below; record again"};

constexpr Reason kWhenEndless[] = {kHuge, kZeros};
constexpr Reason kWhenCut[] = {kCutCopy, kCutExport};
constexpr Reason kWhenCallsOnly[] = {kDropped, kFlushed, kNoTracing};
constexpr Reason kWhenHostOnly[] = {kActivities, kRestricted, kTaken, kUnused, kBuild};
constexpr Reason kWhenNoDevice[] = {kInvisible, kActivities, kBuild};

std::span<const Reason> reasons(NoDeviceCause cause) {
  switch (cause) {
    case NoDeviceCause::kCallsOnly:
      return kWhenCallsOnly;
    case NoDeviceCause::kHostOnly:
      return kWhenHostOnly;
    case NoDeviceCause::kCut:
      return kWhenCut;
    case NoDeviceCause::kEndless:
      return kWhenEndless;
    case NoDeviceCause::kNoDevice:
      break;
  }
  return kWhenNoDevice;
}

std::string_view headline(NoDeviceCause cause) {
  switch (cause) {
    case NoDeviceCause::kCallsOnly:
      return "No GPU work was recorded, only the calls that started it.";
    case NoDeviceCause::kHostOnly:
      return "No GPU work was recorded, nor any call that could have started it.";
    case NoDeviceCause::kCut:
      return "No GPU work was read: the file is cut or damaged, and profilers write the GPU's "
             "work at its end.";
    case NoDeviceCause::kEndless:
      return "No GPU work was read: nothing after an event of more than 64 MiB was, and profilers "
             "write the GPU's work last.";
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
  Look page = look;
  if (page.width == 0) page.width = 100;  // sentences are wrapped in files too
  return text + table.render(page) +
         styled("  How to mend each: docs/start/no-gpu-events.md\n", Style::kFaint, look);
}

}  // namespace stepscope::report
