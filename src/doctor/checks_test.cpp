// Each check on a made-up machine with made-up drivers.
#include "doctor/checks.h"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/temp_folder_for_tests.h"
#include "doctor/cuda.h"

namespace stepscope::doctor {
namespace {

using base::TempFolder;

using Files = std::vector<std::pair<std::string, std::string>>;

struct Case {
  std::string title;
  std::vector<Check> (*look)(const Place& place);
  Files files;
  std::string name;
  State state;
  std::string value;
};

Check found(const std::vector<Check>& checks, const std::string& name) {
  for (const Check& check : checks) {
    if (check.name == name) return check;
  }
  return {.name = "no such check"};
}

const std::string kNoLimits =
    "Limit                     Soft Limit           Hard Limit           Units     \n"
    "Max processes             1024                 2048                 processes \n"
    "Max open files            1048576              1048576              files     \n"
    "Max locked memory         65536                65536                bytes     \n";
const std::string kDriver =
    "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug 19 01:15:15 UTC 2023\n"
    "GCC version:  gcc version 11.4.0\n";

const Case kCases[] = {
    {"a version of the driver",
     nvidia_checks,
     {{"proc/driver/nvidia/version", kDriver}},
     "nvidia-driver",
     State::kGood,
     "535.104.05"},
    {"the open module says it in other words",
     nvidia_checks,
     {{"proc/driver/nvidia/version",
       "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release Build\n"}},
     "nvidia-driver",
     State::kGood,
     "580.65.06"},
    {"no driver",
     nvidia_checks,
     {},
     "nvidia-driver",
     State::kMissing,
     "no kernel module of NVIDIA"},
    {"no library", nvidia_checks, {}, "cuda-driver", State::kMissing, "not there, as the driver"},
    {"counters for administrators",
     counter_checks,
     {{"proc/driver/nvidia/version", kDriver},
      {"proc/driver/nvidia/params", "RmLogonRC: 1\nRmProfilingAdminOnly: 1\n"},
      {"proc/self/status", "CapEff:\t0000000000000000\n"}},
     "counters",
     State::kBad,
     "administrators only"},
    {"counters for an administrator",
     counter_checks,
     {{"proc/driver/nvidia/version", kDriver},
      {"proc/driver/nvidia/params", "RmProfilingAdminOnly: 1\n"},
      {"proc/self/status", "CapEff:\t0000000000200000\n"}},
     "counters",
     State::kGood,
     "this process has CAP_SYS_ADMIN"},
    {"counters for all",
     counter_checks,
     {{"proc/driver/nvidia/version", kDriver},
      {"proc/driver/nvidia/params", "RmProfilingAdminOnly: 0\n"}},
     "counters",
     State::kGood,
     "open to all users"},
    {"a driver that keeps it to itself",
     counter_checks,
     {{"proc/driver/nvidia/version", kDriver}},
     "counters",
     State::kUnknown,
     "the driver does not say"},
    {"sampling forbidden",
     counter_checks,
     {{"proc/sys/kernel/perf_event_paranoid", "4\n"}},
     "perf-events",
     State::kBad,
     "perf_event_paranoid is 4"},
    {"sampling allowed",
     counter_checks,
     {{"proc/sys/kernel/perf_event_paranoid", "-1\n"}},
     "perf-events",
     State::kGood,
     "perf_event_paranoid is -1"},
    {"no AMD", amd_checks, {}, "amd-device", State::kMissing, "no amdgpu driver"},
    {"two AMD devices, the first node is the CPU",
     amd_checks,
     {{"sys/module/amdgpu/version", "6.7.0\n"},
      {"sys/class/kfd/kfd/topology/nodes/0/gpu_id", "0\n"},
      {"sys/class/kfd/kfd/topology/nodes/1/gpu_id", "4711\n"},
      {"sys/class/kfd/kfd/topology/nodes/2/gpu_id", "815\n"},
      {"dev/kfd", ""}},
     "amd-device",
     State::kGood,
     "2 devices, amdgpu 6.7.0"},
    {"an AMD device without permission",
     amd_checks,
     {{"sys/module/amdgpu/version", "6.7.0\n"},
      {"sys/class/kfd/kfd/topology/nodes/1/gpu_id", "4711\n"}},
     "amd-device",
     State::kBad,
     "1 device, amdgpu 6.7.0"},
    {"affinity",
     processor_checks,
     {{"sys/devices/system/cpu/online", "0-63\n"},
      {"proc/self/status", "Cpus_allowed_list:\t0-7,32-39\n"}},
     "cpus",
     State::kGood,
     "16 usable of 64 (affinity)"},
    {"more allowed than there are",
     processor_checks,
     {{"sys/devices/system/cpu/online", "0-3\n"},
      {"proc/self/status", "Cpus_allowed_list:\t0-127\n"}},
     "cpus",
     State::kGood,
     "4 usable of 4"},
    {"one CPU",
     processor_checks,
     {{"sys/devices/system/cpu/online", "0-3\n"}, {"proc/self/status", "Cpus_allowed_list:\t2\n"}},
     "cpus",
     State::kBad,
     "1 usable of 4 (affinity)"},
    {"memory",
     processor_checks,
     {{"proc/meminfo", "MemTotal:       67108864 kB\n"}},
     "memory",
     State::kGood,
     "64.0 GiB free of 64.0 GiB"},
    {"a steady counter",
     processor_checks,
     {{"proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu constant_tsc nonstop_tsc\n"},
      {"sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n"}},
     "clock",
     State::kGood,
     "TSC constant and nonstop, clock source tsc"},
    {"a counter that stops",
     processor_checks,
     {{"proc/cpuinfo", "flags\t\t: fpu constant_tsc\n"},
      {"sys/devices/system/clocksource/clocksource0/current_clocksource", "kvm-clock\n"}},
     "clock",
     State::kBad,
     "TSC constant, but may stop, clock source kvm-clock"},
    {"a slow clock",
     processor_checks,
     {{"proc/cpuinfo", "flags\t\t: constant_tsc nonstop_tsc\n"},
      {"sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet\n"}},
     "clock",
     State::kBad,
     "TSC constant and nonstop, clock source hpet"},
    {"ARM has one counter",
     processor_checks,
     {{"proc/cpuinfo", "processor\t: 0\nFeatures\t: fp asimd\n"},
      {"sys/devices/system/clocksource/clocksource0/current_clocksource", "arch_sys_counter\n"}},
     "clock",
     State::kGood,
     "the counter of the architecture, clock source arch_sys_counter"},
    {"few processes",
     limit_checks,
     {{"proc/self/limits", kNoLimits}},
     "processes",
     State::kBad,
     "1024"},
    {"enough files",
     limit_checks,
     {{"proc/self/limits", kNoLimits}},
     "open-files",
     State::kGood,
     "1048576"},
    {"locked memory without InfiniBand",
     limit_checks,
     {{"proc/self/limits", kNoLimits}},
     "locked-memory",
     State::kGood,
     "64 KiB, and no InfiniBand"},
    {"locked memory with InfiniBand",
     limit_checks,
     {{"proc/self/limits", kNoLimits}, {"sys/class/infiniband/mlx5_0/fw_ver", "20\n"}},
     "locked-memory",
     State::kBad,
     "64 KiB"},
    {"nothing known about limits",
     limit_checks,
     {},
     "open-files",
     State::kUnknown,
     "the kernel does not say"},
};

TEST(Checks, ReadWhatTheMachineSays) {
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.title);
    const TempFolder root;
    for (const auto& [name, text] : c.files) root.write(name, text);
    const Check check = found(
        c.look({.root = root.path(), .library_folder = root.path() + "/no-libraries"}), c.name);
    EXPECT_EQ(check.name, c.name);
    EXPECT_EQ(name_of(check.state), name_of(c.state));
    EXPECT_EQ(check.value, c.value);
    if (check.state == State::kBad) {
      EXPECT_FALSE(check.means.empty());
      EXPECT_FALSE(check.todo.empty());
    }
  }
}

TEST(Checks, AQuotaBelowTheVisibleCpusIsBad) {
  const TempFolder root;
  root.write("sys/devices/system/cpu/online", "0-63\n");
  root.write("proc/meminfo", "MemTotal: 67108864 kB\n");
  const std::vector<Check> checks = processor_checks({.root = root.path(),
                                                      .quota_cpus = 8,
                                                      .limit_memory_bytes = std::uint64_t{16} << 30,
                                                      .free_memory_bytes = std::uint64_t{1} << 30});
  EXPECT_EQ(found(checks, "cpus").value, "8 usable of 64 (quota 8, 64 visible)");
  EXPECT_EQ(found(checks, "cpus").state, State::kBad);
  EXPECT_EQ(found(checks, "cpus").todo, "OMP_NUM_THREADS=8, and DataLoader workers below 8");
  EXPECT_EQ(found(checks, "memory").value,
            "1.0 GiB free of 16.0 GiB (the group's limit; machine: 64.0 GiB)");
  EXPECT_EQ(found(checks, "memory").state, State::kBad);
}

TEST(Checks, StorageIsJudgedByWhatIsFree) {
  constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;
  EXPECT_EQ(disk_check("ext4", 100 * kGiB, 1000 * kGiB).value, "100 GiB free of 1000 GiB, ext4");
  EXPECT_EQ(disk_check("ext4", 100 * kGiB, 1000 * kGiB).state, State::kGood);
  EXPECT_EQ(disk_check("ext4", 4 * kGiB, 1000 * kGiB).state, State::kBad);
  EXPECT_NE(disk_check("lustre", 100 * kGiB, 1000 * kGiB).means, "");
  EXPECT_EQ(shared_memory_check(64 << 20, 64 << 20).state, State::kBad);
  EXPECT_NE(shared_memory_check(64 << 20, 64 << 20).todo.find("--shm-size"), std::string::npos);
  EXPECT_EQ(shared_memory_check(8 * kGiB, 8 * kGiB).state, State::kGood);
}

TEST(Checks, RealMachineHasADisk) {
  const std::vector<Check> checks = storage_checks({});
  ASSERT_EQ(checks.size(), 2u);
  EXPECT_NE(checks[0].value.find("free of"), std::string::npos);
}

TEST(DoctorInterpreter, NamesTheOneThatWasAskedFor) {
  const Check check =
      found(interpreter_checks({}, "ended with status 127", true, "/no/python"), "python");
  EXPECT_EQ(check.value, "/no/python cannot be run");
  EXPECT_EQ(check.todo.find("on PATH"), std::string::npos);
}

struct SaidCase {
  std::string title, printed, complaint, name;
  State state;
  std::string value;
};

const std::string kPython = "stepscope.executable=/env/bin/python\nstepscope.version=3.12.4\n";
const std::string kTorch = kPython + "stepscope.torch=2.9.1\nstepscope.kineto=1\n";

const SaidCase kSaid[] = {
    {"no interpreter", "", "ended with status 127", "python", State::kMissing,
     "no python3 on PATH"},
    {"an interpreter that hangs", "", "did not answer within 5 s", "python", State::kBad,
     "the interpreter did not answer within 5 s"},
    {"others may print too", "banner\n" + kPython, "", "python", State::kGood,
     "3.12.4, /env/bin/python"},
    {"no torch", kPython + "stepscope.torch_missing=No module named 'torch'\n", "", "torch",
     State::kMissing, "this interpreter has no torch"},
    {"a broken torch", kPython + "stepscope.torch_error=libcudart.so.12: not found\n", "", "torch",
     State::kBad, "import torch fails: libcudart.so.12: not found"},
    {"an import that takes too long", kPython, "did not answer within 5 s", "torch",
     State::kUnknown, "import torch did not answer within 5 s"},
    {"for the CPU", kTorch + "stepscope.cuda=\nstepscope.hip=\nstepscope.device_count=0\n", "",
     "torch", State::kGood, "2.9.1, built for the CPU only"},
    {"for the CPU, no device", kTorch + "stepscope.device_count=0\n", "", "torch-device",
     State::kMissing, "none visible"},
    {"for CUDA, no device", kTorch + "stepscope.cuda=12.8\nstepscope.device_count=0\n", "",
     "torch-device", State::kBad, "none visible"},
    {"a device",
     kTorch + "stepscope.cuda=12.8\nstepscope.device=NVIDIA H200\n"
              "stepscope.device_count=8\n",
     "", "torch-device", State::kGood, "8 visible: NVIDIA H200"},
    {"a driver that hangs in torch", kTorch + "stepscope.cuda=12.8\n", "did not answer within 5 s",
     "torch-device", State::kUnknown, "torch was asked and did not answer within 5 s"},
    {"traces without kernels", kTorch + "stepscope.device_count=1\nstepscope.activities=CPU\n", "",
     "torch-profiler", State::kBad, "Kineto records CPU only"},
    {"traces with kernels",
     kTorch + "stepscope.device_count=1\nstepscope.activities=CPU and CUDA\n", "", "torch-profiler",
     State::kGood, "Kineto, records CPU and CUDA"},
    {"no Kineto", kPython + "stepscope.torch=2.9.1\nstepscope.kineto=0\n", "", "torch-profiler",
     State::kMissing, "torch was built without Kineto"},
};

TEST(Checks, DoNotBlameTorchWhereThereIsNoGpu) {
  const InterpreterFacts facts =
      interpreter_facts(kTorch + "stepscope.cuda=12.8\nstepscope.device_count=0\n");
  EXPECT_EQ(name_of(found(interpreter_checks(facts, "", true), "torch-device").state), "bad");
  const Check check = found(interpreter_checks(facts, "", false), "torch-device");
  EXPECT_EQ(name_of(check.state), "missing");
  EXPECT_TRUE(check.means.starts_with("nothing of a GPU is visible here")) << check.means;
}

TEST(Checks, UnderstandTheInterpreter) {
  for (const SaidCase& c : kSaid) {
    SCOPED_TRACE(c.title);
    const Check check =
        found(interpreter_checks(interpreter_facts(c.printed), c.complaint, true), c.name);
    EXPECT_EQ(name_of(check.state), name_of(c.state));
    EXPECT_EQ(check.value, c.value);
  }
}

TEST(Checks, LinksHaveTheRateOfTheirGeneration) {
  EXPECT_NEAR(link_rate(3, 16).value_or(0), 15.76, 0.01);
  EXPECT_NEAR(link_rate(5, 16).value_or(0), 63.0, 0.01);
  EXPECT_EQ(link_rate(9, 16), std::nullopt);
  EXPECT_EQ(link_rate(5, 0), std::nullopt);
}

}  // namespace
}  // namespace stepscope::doctor
