#include "analysis/loading/gpu_meanwhile.h"

#include <algorithm>

#include "analysis/system/curve_values.h"

namespace stepscope::analysis {

std::optional<double> gpu_idle_share(const RunView& view, const std::vector<NodeCurves>& nodes,
                                     std::int32_t rank, const RankLoading& loading,
                                     const LoaderKey& key) {
  const auto hosts = hosts_of_ranks(view);
  const auto host = hosts.find(rank);
  if (host == hosts.end()) return std::nullopt;
  const auto node = std::ranges::find(nodes, host->second, &NodeCurves::host);
  if (node == nodes.end()) return std::nullopt;
  double busy = 0, samples = 0;  // of all passes and GPUs
  for (const std::string& gpu : gpus_of_rank(*node, rank)) {
    const Curve* const curve = node->find("gpu.busy", "device", gpu);
    if (curve == nullptr) continue;
    const CurveReader reader(curve);
    for (const BatchWait& wait : loading.waits) {
      if (!wait.counts || wait.loader != key.loader || wait.phase != key.phase) continue;
      const Interval within{wait.start, wait.until};
      const auto mean = reader.mean(within);
      if (!mean) continue;
      const auto count = static_cast<double>(reader.samples(within));
      busy += *mean * count;
      samples += count;
    }
  }
  if (samples <= 0) return std::nullopt;
  return 1 - busy / samples * 0.01;  // percent
}

}  // namespace stepscope::analysis
