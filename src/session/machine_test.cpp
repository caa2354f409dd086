// Cores and memory under made-up cgroups and limits.
#include "session/machine.h"

#include <unistd.h>

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/temp_folder_for_tests.h"

namespace stepscope::session {
namespace {

using base::TempFolder;

using Files = std::vector<std::pair<std::string, std::string>>;

struct CpuCase {
  std::string name;
  Files files;
  unsigned affinity;
  std::string slurm;
  unsigned expected;
};

const CpuCase kCpus[] = {
    {"nothing but affinity", {}, 64, "", 64},
    {"Slurm gives less", {}, 64, "8", 8},
    {"Slurm's number may be rubbish", {}, 64, "8(x2)x", 8},
    {"Slurm never gives more than affinity", {}, 4, "8", 4},
    {"version 2 quota, rounded up",
     {{"proc/self/cgroup", "0::/job\n"}, {"sys/fs/cgroup/job/cpu.max", "250000 100000\n"}},
     64,
     "",
     3},
    {"version 2 without quota",
     {{"proc/self/cgroup", "0::/job\n"}, {"sys/fs/cgroup/job/cpu.max", "max 100000\n"}},
     64,
     "",
     64},
    {"a group above binds too",
     {{"proc/self/cgroup", "0::/slice/job\n"},
      {"sys/fs/cgroup/slice/job/cpu.max", "max 100000\n"},
      {"sys/fs/cgroup/slice/cpu.max", "400000 100000\n"}},
     64,
     "",
     4},
    {"inside a container the mount is the group",
     {{"proc/self/cgroup", "0::/\n"}, {"sys/fs/cgroup/cpu.max", "200000 100000\n"}},
     64,
     "",
     2},
    {"version 1 quota",
     {{"proc/self/cgroup", "5:cpuset:/\n4:cpu,cpuacct:/docker/ab\n"},
      {"sys/fs/cgroup/cpu/docker/ab/cpu.cfs_quota_us", "600000\n"},
      {"sys/fs/cgroup/cpu/docker/ab/cpu.cfs_period_us", "100000\n"}},
     64,
     "",
     6},
    {"version 1 without quota",
     {{"proc/self/cgroup", "4:cpu,cpuacct:/\n"},
      {"sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n"},
      {"sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n"}},
     64,
     "",
     64},
    {"never less than one",
     {{"proc/self/cgroup", "0::/\n"}, {"sys/fs/cgroup/cpu.max", "100 100000\n"}},
     64,
     "0",
     1},
};

TEST(Machine, UsesWhatTheJobMayUse) {
  for (const CpuCase& c : kCpus) {
    SCOPED_TRACE(c.name);
    const TempFolder root;
    for (const auto& [name, text] : c.files) root.write(name, text);
    EXPECT_EQ(usable_cpus({root.path(), c.slurm, c.affinity}), c.expected);
  }
}

struct MemoryCase {
  std::string name;
  Files files;
  std::optional<std::uint64_t> expected;
};

const MemoryCase kMemory[] = {
    {"nothing known", {}, std::nullopt},
    {"the machine's", {{"proc/meminfo", "MemTotal: 100 kB\nMemAvailable:   64 kB\n"}}, 64 * 1024},
    {"what a group has left, its cache not counted",
     {{"proc/meminfo", "MemAvailable: 64 kB\n"},
      {"proc/self/cgroup", "0::/job\n"},
      {"sys/fs/cgroup/job/memory.max", "10000\n"},
      {"sys/fs/cgroup/job/memory.current", "6000\n"},
      {"sys/fs/cgroup/job/memory.stat", "anon 5000\ninactive_file 700\nactive_file 300\n"}},
     5000},
    {"a group without limit",
     {{"proc/meminfo", "MemAvailable: 64 kB\n"},
      {"proc/self/cgroup", "0::/job\n"},
      {"sys/fs/cgroup/job/memory.max", "max\n"}},
     64 * 1024},
    {"version 1, and its way to say no limit",
     {{"proc/self/cgroup", "9:memory:/a/b\n"},
      {"sys/fs/cgroup/memory/a/b/memory.limit_in_bytes", "9223372036854771712\n"},
      {"sys/fs/cgroup/memory/a/memory.limit_in_bytes", "5000\n"},
      {"sys/fs/cgroup/memory/a/memory.usage_in_bytes", "1000\n"}},
     4000},
};

TEST(Machine, KnowsWhatMemoryIsLeft) {
  for (const MemoryCase& c : kMemory) {
    SCOPED_TRACE(c.name);
    const TempFolder root;
    for (const auto& [name, text] : c.files) root.write(name, text);
    EXPECT_EQ(available_memory({root.path(), "", 1}), c.expected);
    const auto loading = default_memory({root.path(), "", 1});
    EXPECT_EQ(loading.has_value(), c.expected.has_value());
    if (!c.expected) continue;
    EXPECT_EQ(*loading, *c.expected / 4 * 3);
  }
}

TEST(Machine, TheLimitOfTheProcessCountsToo) {
  const TempFolder root;
  MachineView machine{root.path(), "", 1};
  machine.address_space = std::uint64_t{1} << 30;
  EXPECT_EQ(available_memory(machine), std::uint64_t{1} << 30);
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  root.write("proc/self/statm", "1000 500 200 100 0 300 0\n");
  EXPECT_EQ(available_memory(machine), (std::uint64_t{1} << 30) - 1000 * page);
  root.write("proc/meminfo", "MemAvailable:   64 kB\n");
  EXPECT_EQ(available_memory(machine), 64 * 1024) << "whichever is less";
  machine.address_space = 1;
  EXPECT_EQ(available_memory(machine), 0) << "all of it is taken";
}

TEST(Machine, LimitsOfGroupsStandAlone) {
  const TempFolder root;
  root.write("proc/self/cgroup", "0::/slice/job\n");
  EXPECT_EQ(quota_cpus({root.path(), "", 1}), std::nullopt);
  EXPECT_EQ(memory_limit({root.path(), "", 1}), std::nullopt);
  root.write("sys/fs/cgroup/slice/cpu.max", "150000 100000\n");
  root.write("sys/fs/cgroup/slice/memory.max", "6000\n");
  root.write("sys/fs/cgroup/slice/memory.current", "5000\n");
  root.write("sys/fs/cgroup/slice/job/memory.max", "max\n");
  EXPECT_EQ(quota_cpus({root.path(), "", 1}), 2u);
  EXPECT_EQ(memory_limit({root.path(), "", 1}), 6000u);
}

TEST(Machine, RealMachineHasSomething) {
  EXPECT_GE(usable_cpus({}), 1u);
  EXPECT_GT(available_memory({}).value_or(1), 0u);
}

}  // namespace
}  // namespace stepscope::session
