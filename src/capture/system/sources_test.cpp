// Each source of samples on a made-up machine: files that are missing, unreadable or odd.
#include <unistd.h>

#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "capture/system/fake_machine_for_tests.h"
#include "capture/system/job.h"

namespace stepscope::capture {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::int64_t kTickNs = 10'000'000;  // of /proc/stat, where the system counts hundredths

TEST(Processors, BusyIsAllButIdleWaitingAndStolen) {
  FakeMachine machine;
  machine.write("proc/stat",
                "cpu  3 1 2 100 50 1 1 9 0 0\ncpu0 2 1 1 50 25 0 1 4\ncpu1 1 0 1 50 25 1 0 5\n"
                "intr 12 3\n");
  const auto source = processor_source(machine.place());
  Watcher watcher;
  watcher.sample(*source);
  machine.write("proc/stat",
                "cpu  5 1 2 100 50 1 1 9\ncpu0 4 1 1 50 25 0 1 4\n"
                "cpu1 1 0 1 50 25 1 0 5\n");
  watcher.sample(*source);
  const Seen seen = watcher.seen();
  ASSERT_EQ(::sysconf(_SC_CLK_TCK), 100);
  EXPECT_THAT(seen["cpu.busy"], ElementsAre(8 * kTickNs, 10 * kTickNs));
  EXPECT_THAT(seen["core.busy core 0"], ElementsAre(5 * kTickNs, 7 * kTickNs));
  EXPECT_THAT(seen["core.busy core 1"], ElementsAre(3 * kTickNs, 3 * kTickNs));
  EXPECT_THAT(seen["cpu.count"], ElementsAre(2));
  EXPECT_THAT(seen.notices, IsEmpty());
}

TEST(FileSystems, AreSeenOnceEachWithWhatIsLeft) {
  const auto source = file_system_source({.file_systems = {"/", "/", "/not/there"}});
  Watcher watcher;
  watcher.sample(*source);
  const Seen seen = watcher.seen();
  ASSERT_EQ(seen["filesystem.used path /"].size(), 1U);
  EXPECT_GT(seen["filesystem.used path /"].front(), 0);
  EXPECT_GE(seen["filesystem.available path /"].front(), 0);
  EXPECT_THAT(seen["filesystem.used path /not/there"], IsEmpty());
  EXPECT_THAT(seen.notices, IsEmpty());
}

TEST(Processors, ThatComeAndGoAreNamedOnce) {
  FakeMachine machine;
  const std::string two = "cpu 1 0 0 9\ncpu0 1 0 0 4\ncpu1 0 0 0 5\n";
  const std::string one = "cpu 1 0 0 9\ncpu0 1 0 0 4\n";
  const auto source = processor_source(machine.place());
  Watcher watcher;
  for (const std::string& text : {two, one, two, one}) {
    machine.write("proc/stat", text);
    watcher.sample(*source);
  }
  const Seen seen = watcher.seen();
  EXPECT_EQ(seen["core.busy core 0"].size(), 4U);
  EXPECT_EQ(seen["core.busy core 1"].size(), 2U);
  EXPECT_THAT(seen["cpu.count"], ElementsAre(2, 1, 2, 1));
  EXPECT_THAT(seen.notices, ElementsAre(HasSubstr("from 2 to 1"), HasSubstr("from 1 to 2")));
}

TEST(Sources, WhatIsNotThereIsNamedOnceAndHasNoValues) {
  FakeMachine machine;
  Job job(machine.place(), machine.path("node"));
  Watcher watcher;
  for (const auto& source : all_sources(machine.place(), job)) {
    watcher.sample(*source);
    watcher.sample(*source);
  }
  const Seen seen = watcher.seen();
  EXPECT_THAT(seen.values, IsEmpty());
  EXPECT_THAT(seen.notices,
              testing::UnorderedElementsAre(HasSubstr("processors: Processor load is not known"),
                                            HasSubstr("memory: Memory of the machine is not known"),
                                            HasSubstr("disks: Disk traffic is not known"),
                                            HasSubstr("network: Network traffic is not known"),
                                            HasSubstr("cgroup: No control group"),
                                            HasSubstr("rapl: The energy of the")));
}

TEST(MachineMemory, UsedIsTotalLessAvailable) {
  FakeMachine machine;
  machine.write("proc/meminfo", "MemTotal:  1000 kB\nMemFree: 10 kB\nMemAvailable: 400 kB\n");
  const auto source = memory_source(machine.place());
  Watcher watcher;
  watcher.sample(*source);
  machine.write("proc/meminfo", "MemTotal:  1000 kB\nMemFree: 10 kB\nMemAvailable: 300 kB\n");
  watcher.sample(*source);
  EXPECT_THAT(watcher.seen()["memory.used"], ElementsAre(600 * 1024, 700 * 1024));
  EXPECT_THAT(watcher.seen()["memory.total"], ElementsAre(1000 * 1024));  // it did not change
}

TEST(Disks, PartitionsAndMadeUpOnesDoNotCount) {
  FakeMachine machine;
  machine.write("sys/block/sda/size", "1000\n");
  machine.write("proc/diskstats",
                "8 0 sda 1 0 20 3 4 0 50 6 0 7 8\n8 1 sda1 1 0 20 3 4 0 50 6 0 7 8\n"
                "7 0 loop0 5 0 5 5 5 0 5 5 0 5 5\n8 16 sdb 0 0 0 0 0 0 0 0 0 0 0\n");
  const auto source = disk_source(machine.place());
  Watcher watcher;
  watcher.sample(*source);
  const Seen seen = watcher.seen();
  EXPECT_EQ(seen.values.size(), 3U);
  EXPECT_THAT(seen["disk.read sda"], ElementsAre(20 * 512));
  EXPECT_THAT(seen["disk.written sda"], ElementsAre(50 * 512));
  EXPECT_THAT(seen["disk.busy sda"], ElementsAre(7'000'000));
}

TEST(Networks, InterfacesAndAdapters) {
  FakeMachine machine;
  machine.write("proc/net/dev",
                "Inter-| Receive | Transmit\n face |bytes\n    lo: 9 0 0 0 0 0 0 0 9 0\n"
                "  eth0:100 1 0 0 0 0 0 0 70 1 0 0 0 0 0 0\n  off0: 0 0 0 0 0 0 0 0 0 0\n");
  machine.write("sys/class/infiniband/mlx5_0/ports/1/counters/port_rcv_data", "25\n");
  machine.write("sys/class/infiniband/mlx5_0/ports/1/counters/port_xmit_data", "5\n");
  const auto source = network_source(machine.place());
  Watcher watcher;
  watcher.sample(*source);
  const Seen seen = watcher.seen();
  EXPECT_EQ(seen.values.size(), 4U);
  EXPECT_THAT(seen["network.received eth0"], ElementsAre(100));
  EXPECT_THAT(seen["network.sent eth0"], ElementsAre(70));
  EXPECT_THAT(seen["network.received mlx5_0:1"], ElementsAre(100));
}

TEST(Rapl, CountersThatBeginAgainGoOn) {
  FakeMachine machine;
  const std::string zone = "sys/class/powercap/intel-rapl:0";
  machine.write(zone + "/name", "package-0\n");
  machine.write(zone + "/max_energy_range_uj", "1000\n");
  machine.write("sys/class/powercap/intel-rapl:0:0/name", "core\n");
  machine.write("sys/class/powercap/intel-rapl:0:0/energy_uj", "5\n");
  machine.write("sys/class/powercap/intel-rapl:0:1/name", "dram\n");
  machine.write("sys/class/powercap/intel-rapl:0:1/energy_uj", "7\n");
  const auto source = rapl_source(machine.place());
  Watcher watcher;
  for (const char* energy : {"900\n", "990\n", "40\n", "60\n", "10\n"}) {
    machine.write(zone + "/energy_uj", energy);
    watcher.sample(*source);
  }
  const Seen seen = watcher.seen();
  EXPECT_THAT(seen["cpu.energy package-0"], ElementsAre(900, 990, 1040, 1060, 2010));
  EXPECT_THAT(seen["memory.energy dram-0:1"], testing::Each(7));
  EXPECT_THAT(seen.notices, IsEmpty());
}

// The administrator may read everything: tests that run as root become another user meanwhile.
class AsOtherUser {
 public:
  AsOtherUser() : was_root_(::geteuid() == 0), is_bound_(!was_root_ || ::seteuid(65534) == 0) {}
  AsOtherUser(const AsOtherUser&) = delete;
  AsOtherUser& operator=(const AsOtherUser&) = delete;
  ~AsOtherUser() {
    if (was_root_ && ::seteuid(0) != 0) std::abort();  // no other test may run like this
  }
  bool is_bound() const { return is_bound_; }

 private:
  bool was_root_, is_bound_;
};

TEST(Rapl, CountersThatMayNotBeReadAreNamed) {
  FakeMachine machine;
  std::filesystem::permissions(machine.path(""), std::filesystem::perms{0755});
  machine.write("sys/class/powercap/intel-rapl:0/name", "package-0\n");
  machine.write("sys/class/powercap/intel-rapl:0/energy_uj", "5\n");
  std::filesystem::permissions(machine.path("sys/class/powercap/intel-rapl:0/energy_uj"),
                               std::filesystem::perms::none);
  Watcher watcher;
  {
    const AsOtherUser other;
    if (!other.is_bound()) GTEST_SKIP() << "root, and no other user can be had here";
    const auto source = rapl_source(machine.place());
    watcher.sample(*source);
    watcher.sample(*source);
  }
  EXPECT_THAT(watcher.seen().values, IsEmpty());
  EXPECT_THAT(watcher.seen().notices, ElementsAre(HasSubstr("Permission denied")));
}

struct CgroupCase {
  const char* name;
  std::vector<std::pair<std::string, std::string>> files;
  std::vector<std::int64_t> memory, memory_limit, cpu, cpu_limit;
};

TEST(ControlGroup, BothKinds) {
  const CgroupCase cases[] = {
      {"unified, limits of a parent",
       {{"proc/self/cgroup", "0::/job/step\n"},
        {"sys/fs/cgroup/job/step/memory.current", "500\n"},
        {"sys/fs/cgroup/job/step/memory.max", "max\n"},
        {"sys/fs/cgroup/job/memory.max", "2000\n"},
        {"sys/fs/cgroup/job/step/cpu.stat", "usage_usec 7\nuser_usec 3\n"},
        {"sys/fs/cgroup/job/step/cpu.max", "150000 100000\n"}},
       {500},
       {2000},
       {7000},
       {1500}},
      {"older kind",
       {{"proc/self/cgroup", "4:memory:/a\n2:cpu,cpuacct:/a\n"},
        {"sys/fs/cgroup/memory/a/memory.usage_in_bytes", "9\n"},
        {"sys/fs/cgroup/memory/a/memory.limit_in_bytes", "9223372036854771712\n"},
        {"sys/fs/cgroup/cpu,cpuacct/a/cpuacct.usage", "123\n"},
        {"sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "-1\n"},
        {"sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n"}},
       {9},
       {},
       {123},
       {}},
      {"older kind, without links for controllers that share a folder",
       {{"proc/self/cgroup", "2:cpu,cpuacct:/a\n"},
        {"sys/fs/cgroup/cpu,cpuacct/a/cpuacct.usage", "5\n"},
        {"sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us", "150000\n"},
        {"sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us", "100000\n"}},
       {},
       {},
       {5},
       {1500}},
      {"in a container the root is meant",
       {{"proc/self/cgroup", "0::/outside/only\n"},
        {"sys/fs/cgroup/memory.current", "11\n"},
        {"sys/fs/cgroup/memory.max", "40\n"}},
       {11},
       {40},
       {},
       {}},
  };
  for (const CgroupCase& one : cases) {
    SCOPED_TRACE(one.name);
    FakeMachine machine;
    for (const auto& [file, text] : one.files) machine.write(file, text);
    const auto source = cgroup_source(machine.place());
    Watcher watcher;
    watcher.sample(*source);
    const Seen seen = watcher.seen();
    EXPECT_EQ(seen["cgroup.memory"], one.memory);
    EXPECT_EQ(seen["cgroup.memory.limit"], one.memory_limit);
    EXPECT_EQ(seen["cgroup.cpu"], one.cpu);
    EXPECT_EQ(seen["cgroup.cpu.limit"], one.cpu_limit);
  }
}

TEST(Amd, OnlyTheDevicesOfTheJob) {
  FakeMachine machine;
  for (const std::string card : {"card0", "card1", "card10"}) {
    const std::string folder = "sys/class/drm/" + card + "/device";
    machine.write(folder + "/vendor", "0x1002\n");
    machine.write(folder + "/gpu_busy_percent", card == "card1" ? "37\n" : "99\n");
    machine.write(folder + "/mem_info_vram_used", "5000\n");
    machine.write(folder + "/mem_info_vram_total", "9000\n");
    machine.write(folder + "/hwmon/hwmon3/power1_average", "250000000\n");
  }
  machine.write("sys/class/drm/card0-DP-1/status", "connected\n");
  machine.process(50, 1);
  machine.announced(50, 0, "HIP_VISIBLE_DEVICES 1\n");
  Job job(machine.place(), machine.path("node"));
  job.refresh();
  const auto source = amd_source(machine.place(), job);
  Watcher watcher;
  watcher.sample(*source);
  machine.remove("sys/class/drm/card1");
  watcher.sample(*source);
  const Seen seen = watcher.seen();
  EXPECT_THAT(seen["gpu.busy 1"].front(), 37);
  EXPECT_THAT(seen["gpu.power 1"].front(), 250'000);
  EXPECT_THAT(seen["gpu.memory_total 1"], ElementsAre(9000));
  EXPECT_THAT(seen["gpu.busy 0"], IsEmpty());
}

}  // namespace
}  // namespace stepscope::capture
