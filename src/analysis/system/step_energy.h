// Joules of a step of all ranks, and their mean. A step whose energy is not known on one of its
// ranks counts in no mean: it did not take 0.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "analysis/system/energy_sums.h"

namespace stepscope::analysis {

class StepEnergy {
 public:
  // A step of one rank. `samples`: that it took; nothing: not known.
  void add(std::int64_t number, const Joules& joules, const std::optional<std::int64_t>& samples);

  struct Mean {
    std::int64_t steps = 0;  // whose energy is known on all ranks: the mean is theirs
    std::optional<double> per_step = {}, per_sample = {};
  };
  // `told`: samples of a step, by the user; 0: nothing.
  Mean of_gpus(std::int64_t told) const;
  Mean of_all(std::int64_t told) const;

  std::size_t steps() const { return steps_.size(); }

 private:
  struct Sum {
    double joules = 0;
    bool known = true, any = false;  // any: a rank has such a device

    void add(const std::optional<double>& value, bool has);
  };
  struct Step {
    Sum gpu, all;
    std::int64_t samples = 0;
    bool samples_known = true;
  };
  Mean mean(Sum Step::* which, std::int64_t told) const;

  std::map<std::int64_t, Step> steps_;  // by number
};

}  // namespace stepscope::analysis
