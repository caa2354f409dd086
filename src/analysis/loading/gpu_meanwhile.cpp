#include "analysis/loading/gpu_meanwhile.h"

#include <algorithm>

namespace stepscope::analysis {

GpuMeanwhile::GpuMeanwhile(const RunView& view, const std::vector<NodeCurves>& nodes,
                           std::int32_t rank) {
  const auto hosts = hosts_of_ranks(view);
  const auto host = hosts.find(rank);
  if (host == hosts.end()) return;
  const auto node = std::ranges::find(nodes, host->second, &NodeCurves::host);
  if (node == nodes.end()) return;
  for (const std::string& gpu : gpus_of_rank(*node, rank)) {
    const Curve* const curve = node->find("gpu.busy", "device", gpu);
    if (curve != nullptr) busy_.emplace_back(curve);
  }
}

std::optional<double> GpuMeanwhile::Samples::idle_share() const {
  if (count <= 0) return std::nullopt;
  return 1 - busy / count * 0.01;
}

void GpuMeanwhile::add(Interval within, Samples& samples) const {
  for (const CurveReader& reader : busy_) {
    const auto mean = reader.mean(within);
    if (!mean) continue;
    const auto count = static_cast<double>(reader.samples(within));
    samples.busy += *mean * count;
    samples.count += count;
  }
}

std::optional<double> GpuMeanwhile::idle_share(std::span<const Interval> within) const {
  Samples samples;
  for (const Interval& one : within) add(one, samples);
  return samples.idle_share();
}

std::optional<double> GpuMeanwhile::idle_share(const RankLoading& loading,
                                               const LoaderKey& key) const {
  Samples samples;
  for (const BatchWait& wait : loading.waits) {
    if (!wait.counts || wait.loader != key.loader || wait.phase != key.phase) continue;
    const Interval all{wait.start, wait.until};
    for (const Interval& part : subtract(std::span(&all, 1), wait.aside)) add(part, samples);
  }
  return samples.idle_share();
}

}  // namespace stepscope::analysis
