#include "session/summary.h"

#include <vector>

#include "report/info/notes.h"

namespace stepscope::session {
namespace {

report::MachineInfo machine_info(const series::Node& node) {
  report::MachineInfo info{.path = node.path,
                           .host = node.host,
                           .interval_ns = node.interval_ns,
                           .samples = node.times.size(),
                           .series = node.series.size(),
                           .finished = node.finished,
                           .sampler_ns = node.cpu_ns,
                           .notes = report::notes_of(node.log, node.path)};
  if (!node.times.empty()) {
    if (node.wall_ns != 0) info.start_unix_ns = node.wall_ns + node.times.front();
    info.span_ns = node.times.back() - node.times.front();
  }
  for (const series::Series& series : node.series) info.values += series.values.size();
  for (const series::Notice& notice : node.notices) {
    info.unseen.push_back({notice.source, notice.text});
  }
  return info;
}

report::RunInfo summary_with(const Recording& recording, const report::RecordedMemory& memory) {
  std::vector<report::NotedFile> others;
  others.reserve(recording.nodes.size());
  for (const series::Node& node : recording.nodes) others.push_back({node.path, &node.log});
  report::RunInfo info = report::summarize(recording.run, memory, recording.rank_records, others);
  for (const series::Node& node : recording.nodes) {
    info.sampling_ns += node.cpu_ns;
    info.machines.push_back(machine_info(node));
  }
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
