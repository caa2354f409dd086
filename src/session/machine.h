// What this process may use of the machine: not every core of a login node, not more memory than a
// container has. The defaults of -j and --max-memory, and of the same options elsewhere.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace stepscope::session {

struct MachineView {
  std::string root;  // where /proc and /sys are; tests bring their own
  std::string
      slurm_cpus;         // SLURM_CPUS_PER_TASK, empty if not set: the caller reads the environment
  unsigned affinity = 0;  // CPUs this process may run on; 0: ask the system
  std::uint64_t address_space = 0;  // bytes that `ulimit -v` allows; 0: ask the system
};

// The smallest of affinity, the CPU quota of all enclosing cgroups (v1 and v2, rounded up) and what
// Slurm gave the task. At least 1.
unsigned usable_cpus(const MachineView& machine);

// The quota of all enclosing cgroups alone, rounded up; nothing where there is none.
std::optional<unsigned> quota_cpus(const MachineView& machine);

// The smallest limit of the enclosing cgroups, whatever is used of it.
std::optional<std::uint64_t> memory_limit(const MachineView& machine);

// What could be allocated now: the machine's available memory, or what is left below the limit of
// an enclosing cgroup or of the process (`ulimit -v`) if that is less. Nothing where the system
// does not say.
std::optional<std::uint64_t> available_memory(const MachineView& machine);

// What loading may take by default: most of that, since others need some, too.
std::optional<std::uint64_t> default_memory(const MachineView& machine);

}  // namespace stepscope::session
