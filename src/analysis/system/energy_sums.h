// What a rank's steps and ranges used: the energy of its own GPUs, and its part of what its machine
// used.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/recording/recorded_steps.h"
#include "analysis/system/energy_curve.h"

namespace stepscope::analysis {

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

}  // namespace stepscope::analysis
