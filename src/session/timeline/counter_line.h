// A line over time: samples by time, with a tree of lowest and highest values, so that a column of
// any width is found without looking at every sample.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/units.h"

namespace stepscope::session {

struct Extent {
  double min = 0, max = 0;
};

class CounterLine {
 public:
  struct Sample {
    base::Nanos time = 0;
    double value = 0;
  };

  CounterLine() = default;
  explicit CounterLine(std::vector<Sample> by_time);

  std::size_t size() const { return samples_.size(); }
  const Sample& operator[](std::size_t position) const { return samples_[position]; }
  std::size_t first_at(base::Nanos time) const;
  // Of the positions [begin, end), which are not none.
  Extent extent(std::size_t begin, std::size_t end) const;
  // Mean over [from, to) by time, of the part in which there is a value.
  std::optional<double> mean(base::Nanos from, base::Nanos to) const;

 private:
  static constexpr std::size_t kBlock = 16;
  std::vector<Sample> samples_;
  std::vector<std::vector<Extent>> blocks_;  // of 16 samples, of 16 blocks, …
};

}  // namespace stepscope::session
