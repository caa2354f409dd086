#include "session/summary.h"

#include <vector>

namespace stepscope::session {
namespace {

report::RunInfo summary_with(const Recording& recording, const report::RecordedMemory& memory) {
  std::vector<report::NotedFile> others;
  others.reserve(recording.nodes.size());
  for (const series::Node& node : recording.nodes) others.push_back({node.path, &node.log});
  report::RunInfo info = report::summarize(recording.run, memory, recording.rank_records, others);
  for (const series::Node& node : recording.nodes) info.sampling_ns += node.cpu_ns;
  return info;
}

}  // namespace

report::RecordedMemory memory_of(const Recording& recording) {
  return {recording.snapshots, recording.timelines, recording.stats};
}

report::RunInfo summary_of(const Recording& recording) {
  return summary_with(recording, memory_of(recording));
}

report::RunInfo summary_without_memory(const Recording& recording) {
  return summary_with(recording, {});
}

}  // namespace stepscope::session
