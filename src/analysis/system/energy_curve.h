// The energy a device has used, as a running total over time: from its own counter, or from its
// power integrated between the samples. A counter that is read seldom says how much, and power says
// when. What a step or a range used is the difference of two points of it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/recording/recorded_steps.h"
#include "analysis/system/node_curves.h"

namespace stepscope::analysis {

enum class EnergyMethod : std::uint8_t { kCounter, kPower };
std::string_view name_of(EnergyMethod method);

class EnergyCurve {
 public:
  // Of a counter in mJ or uJ.
  static EnergyCurve from_counter(const Curve& counter, base::Nanos interval);
  // What was used between two values of the counter is spread as its power was; before its first
  // and after its last value power counts by itself.
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
  bool counted = true;  // false: a GPU that no process of the job had open
  EnergyCurve curve;
  std::optional<double> max_watts;  // the highest sample of its power
};

// GPUs first. What knows neither counter nor power is not among them.
std::vector<EnergySource> energy_sources(const NodeCurves& node);

// What a rank's steps and ranges used: the energy of its own GPUs, and its part of what its machine
// used.

struct Joules {
  std::optional<double> gpu, host;         // nothing: not known
  bool has_gpu = false, has_host = false;  // there is such a device
  bool is_estimate = false;                // shorter than what the devices can tell apart

  std::optional<double> sum() const;  // nothing where that of one of the devices is not known
  void add(const Joules& other);
};

// The devices that one rank answers for.
class RankEnergy {
 public:
  // `ranks`: on this machine. Processors and memory are shared by them equally.
  RankEnergy(const NodeCurves& node, const std::vector<EnergySource>& sources, std::int32_t rank,
             std::size_t ranks);

  // Together; nothing where one of them is not covered.
  Joules within(std::span<const Interval> stretches) const;
  // The slowest of its devices: shorter stretches are estimates.
  base::Nanos update() const { return update_; }

 private:
  std::vector<const EnergyCurve*> gpus_, host_;
  double part_ = 1;  // of the host's
  base::Nanos update_ = 0;
};

// One range of one rank, all of its calls together.
struct PhaseEnergy {
  std::int32_t rank = 0;
  std::string path, name;
  std::uint32_t depth = 0;
  std::uint64_t calls = 0;
  base::Nanos total = 0;
  std::uint64_t measured = 0;  // calls whose energy is known
  base::Nanos measured_ns = 0;
  Joules joules;  // of those
};

// The ranges of a rank's main thread, the longest first, each below the one around it.
std::vector<PhaseEnergy> phases_of(const RunView& view, std::int32_t rank, const RankEnergy& energy,
                                   std::size_t top);

// Joules of a step of all ranks, and their mean. A step whose energy is not known on one of its
// ranks counts in no mean: it did not take 0.

class StepEnergy {
 public:
  // A step of one rank. `samples`: that it took; nothing: not known.
  void add(std::int64_t number, const Joules& joules, const std::optional<std::int64_t>& samples);

  struct Mean {
    std::int64_t steps = 0;  // whose energy is known on all ranks: the mean is theirs
    std::optional<double> per_step = {}, per_sample = {};
  };
  // `given`: samples of a step, by the user; 0: nothing.
  Mean of_gpus(std::int64_t given) const;
  Mean of_all(std::int64_t given) const;

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
  Mean mean(Sum Step::* which, std::int64_t given) const;

  std::map<std::int64_t, Step> steps_;  // by number
};

}  // namespace stepscope::analysis
