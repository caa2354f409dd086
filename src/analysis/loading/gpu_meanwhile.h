// What a rank's GPUs did while its loop ran over a loader, by the samples of its machine.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analysis/loading/loader_records.h"
#include "analysis/loading/loader_sums.h"
#include "analysis/system/curve_values.h"
#include "analysis/system/node_curves.h"

namespace stepscope::analysis {

// Shares of the time in which they had nothing to do, as their driver counts; of several GPUs the
// mean. Nothing where nobody sampled them. The curves must outlive it.
class GpuMeanwhile {
 public:
  GpuMeanwhile(const RunView& view, const std::vector<NodeCurves>& nodes, std::int32_t rank);

  std::optional<double> idle_share(std::span<const Interval> within) const;
  // While the loop ran over one loader.
  std::optional<double> idle_share(const RankLoading& loading, const LoaderKey& key) const;

 private:
  struct Samples {
    double busy = 0, count = 0;
    std::optional<double> idle_share() const;
  };
  void add(Interval within, Samples& samples) const;

  std::vector<CurveReader> busy_;  // in percent
};

}  // namespace stepscope::analysis
