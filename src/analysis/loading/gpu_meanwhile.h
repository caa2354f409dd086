// What a rank's GPUs did while its loop ran over a loader, by the samples of its machine.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/loading/loader_records.h"
#include "analysis/loading/loader_sums.h"
#include "analysis/system/node_curves.h"

namespace stepscope::analysis {

// The share of the time in which they had nothing to do, as their driver counts; of several the
// mean. Nothing where nobody sampled them.
std::optional<double> gpu_idle_share(const RunView& view, const std::vector<NodeCurves>& nodes,
                                     std::int32_t rank, const RankLoading& loading,
                                     const LoaderKey& key);

}  // namespace stepscope::analysis
