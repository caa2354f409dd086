#include "report/page/no_gpu.h"

#include <algorithm>
#include <optional>
#include <string_view>

namespace stepscope::report {
namespace {

bool is_sampled(const Answers& answers) { return answers.find("system") != nullptr; }

bool saw_gpus(const Answers& answers) {
  const base::Table* const gpus = answers.table("system", "gpus");
  return gpus != nullptr && gpus->rows() > 0;
}

// PyTorch's own figures of a device's memory, which a recording holds as counters.
bool counted_gpu(const RunInfo& info) {
  return std::ranges::any_of(info.recordings, [](const RecordingInfo& one) {
    return std::ranges::any_of(one.counters, [](std::string_view name) {
      return name.starts_with("cuda:") || name.starts_with("xpu:");
    });
  });
}

}  // namespace

bool worked_without_gpu(const Answers& answers) {
  if (saw_gpus(answers) || counted_gpu(answers.info)) return false;
  if (answers.info.stood_in) return is_sampled(answers);
  const std::optional<NoDeviceCause> cause = cause_of_no_device_work(answers.info);
  return cause == NoDeviceCause::kNoDevice || cause == NoDeviceCause::kHostOnly;
}

std::string no_gpu_fact(const Answers& answers) {
  if (answers.info.stood_in) return "none was seen on the machine";
  if (cause_of_no_device_work(answers.info) == NoDeviceCause::kNoDevice) {
    return "none: the process saw no GPU";
  }
  if (is_sampled(answers)) return "none was seen: no GPU work in the trace, no GPU on the machine";
  return "no work of one in the trace: it was recorded on the host alone, or without the GPU "
         "activity";
}

}  // namespace stepscope::report
