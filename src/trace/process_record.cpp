// Names log levels, and counts the memory of what a process recorded.
#include "trace/process_record.h"

#include "trace/model_summary.h"

namespace stepscope::trace {

std::string level_name(std::int32_t level) {
  switch (level) {
    case 10:
      return "debug";
    case 20:
      return "info";
    case 30:
      return "warning";
    case 40:
      return "error";
    case 50:
      return "critical";
    default:
      return std::to_string(level);
  }
}

std::size_t ProcessRecord::memory() const {
  std::size_t bytes = log.capacity() * sizeof(LogEntry);
  for (const LogEntry& line : log) {
    bytes += line.logger.capacity() + line.thread.capacity() + line.text.capacity();
  }
  bytes += step_threads.capacity() * sizeof(std::string);
  for (const std::string& thread : step_threads) bytes += thread.capacity();
  if (model != nullptr) bytes += model->memory();
  return bytes;
}

std::size_t ModelSummary::memory() const {
  std::size_t bytes = layers.capacity() * sizeof(ModelLayer);
  for (const ModelLayer& layer : layers) {
    bytes += layer.name.capacity() + layer.type.capacity() + layer.input.capacity() +
             layer.output.capacity();
  }
  return bytes;
}

}  // namespace stepscope::trace
