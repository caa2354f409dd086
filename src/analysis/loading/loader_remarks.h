// The answer in a sentence per loader: how long the loop waited, for which worker, and what that
// worker did.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/loading/loader_steps.h"
#include "analysis/loading/loader_sums.h"

namespace stepscope::analysis {

class LoaderRemarks {
 public:
  // gpu_idle: the share of the time in which the rank's GPUs had nothing to do, if it is known.
  void add(std::int32_t rank, const LoaderKey& key, const LoaderSums& sums,
           const std::optional<double>& gpu_idle);
  // The same of a step, and of the batch it waited for longest.
  void add_step(std::int32_t rank, const LoaderStep& step, const std::optional<double>& gpu_idle);
  // Of several ranks the one that waited longest speaks, and of steps that the GPU was sampled in
  // the one that did.
  std::vector<std::string> sentences(bool several_ranks) const;

 private:
  struct Said {
    double share = 0;
    std::int32_t rank = 0;
    std::string text;
  };
  std::map<LoaderKey, Said> worst_;
  base::Nanos longest_ = 0;  // wait of a step
  Said step_;
};

}  // namespace stepscope::analysis
