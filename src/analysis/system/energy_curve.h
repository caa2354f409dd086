// The energy a device has used, as a running total over time: from its own counter, or from its
// power integrated between the samples. A counter that is read seldom says how much, and power says
// when. What a step or a range used is the difference of two points of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/system/node_curves.h"

namespace stepscope::analysis {

enum class EnergyMethod : std::uint8_t { kCounter, kPower };
std::string_view name_of(EnergyMethod method);

class EnergyCurve {
 public:
  // Of a counter in mJ or uJ.
  static EnergyCurve from_counter(const Curve& counter, base::Nanos interval);
  // What was used between two values of the counter is spread as its power was; before its first
  // and behind its last value power counts by itself.
  static EnergyCurve from_both(const Curve& counter, const Curve& power, base::Nanos interval);
  // Of power in mW: a straight line between two samples.
  static EnergyCurve from_power(const Curve& power, base::Nanos interval);

  EnergyMethod method() const { return method_; }
  bool empty() const { return times_.size() < 2; }
  Interval covered() const { return {times_.front(), times_.back()}; }
  // Microjoules from the first sample to the last.
  std::int64_t total_uj() const { return total_.back(); }
  // At most this much more or less. Of power: as if it had jumped anywhere between two samples. Of
  // a counter: one update at either end.
  std::int64_t error_uj() const { return error_; }
  // Between two values of its own; shorter stretches are estimates.
  base::Nanos update() const { return update_; }

  // Microjoules within; a little beyond its ends the line goes on. Nothing further out.
  std::optional<double> within(Interval stretch) const;

 private:
  void finish(base::Nanos interval);
  std::optional<double> at(base::Nanos time) const;

  EnergyMethod method_ = EnergyMethod::kCounter;
  std::vector<base::Nanos> times_;
  std::vector<std::int64_t> total_;  // microjoules since the first sample, rising
  std::int64_t error_ = 0;
  base::Nanos update_ = 0, beyond_ = 0;
};

// A part of a machine that has energy.
struct EnergySource {
  std::string kind;    // "GPU", "CPU", "memory"
  std::string device;  // "0", "package-0"
  std::string model;
  bool counted = true;  // false: a GPU that nobody of the job had open
  EnergyCurve curve;
  std::optional<double> max_watts;  // the highest sample of its power
};

// GPUs first. What knows neither counter nor power is not among them.
std::vector<EnergySource> energy_sources(const NodeCurves& node);

}  // namespace stepscope::analysis
