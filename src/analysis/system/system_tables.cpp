// The columns of the analysis system, and what fills its tables.
#include "analysis/system/system_tables.h"

namespace stepscope::analysis {
namespace {

using base::Type;
using base::Unit;

constexpr base::ColumnShape kSystemTablesNode{"node", Type::kText, Unit::kId,
                                              "name of the machine"};
constexpr base::ColumnShape kSystemTablesTime{"time_ns", Type::kInt, Unit::kInstant,
                                              "since the first recording of the run began"};

constexpr std::array kMachineColumns = std::to_array<base::ColumnShape>({
    kSystemTablesNode,
    {"processors", Type::kInt, Unit::kCount, "of the machine"},
    {"cpu_mean_share", Type::kReal, Unit::kShare, "busy, of all its processors"},
    {"cpu_p95_share", Type::kReal, Unit::kShare, "19 of 20 stretches were not busier"},
    {"cpu_max_share", Type::kReal, Unit::kShare, "in the busiest stretch"},
    {"job_cores", Type::kReal, Unit::kNone, "processors the job's processes kept busy, on average"},
    {"cpu_limit_cores", Type::kReal, Unit::kNone,
     "that the job may use; null: as many as there are"},
    {"group_mean_cores", Type::kReal, Unit::kNone,
     "processors that all processes of the job's control group kept busy"},
    {"group_max_cores", Type::kReal, Unit::kNone, "in its busiest stretch"},
    {"memory_mean_bytes", Type::kReal, Unit::kBytes, "in use: total less available"},
    {"memory_max_bytes", Type::kInt, Unit::kBytes, "the most"},
    {"memory_total_bytes", Type::kInt, Unit::kBytes, "of the machine"},
    {"job_memory_max_bytes", Type::kInt, Unit::kBytes,
     "the most that the job's control group held"},
    {"memory_limit_bytes", Type::kInt, Unit::kBytes, "that the job may use; null: all there is"},
    {"disk_read_bytes", Type::kInt, Unit::kBytes, "from all of its disks, by anybody"},
    {"disk_written_bytes", Type::kInt, Unit::kBytes, "to them"},
    {"received_bytes", Type::kInt, Unit::kBytes, "by its network, by anybody"},
    {"sent_bytes", Type::kInt, Unit::kBytes, "so too"},
    {"sampled_ns", Type::kInt, Unit::kNanos, "from the first sample to the last"},
    {"gap_ns", Type::kInt, Unit::kNanos, "of it, without samples"},
    {"samples", Type::kInt, Unit::kCount, "moments at which it was looked at"},
    {"sampler_share", Type::kReal, Unit::kShare, "of one processor, that sampling took"},
});

constexpr std::array kGpuColumns = std::to_array<base::ColumnShape>({
    kSystemTablesNode,
    {"gpu", Type::kText, Unit::kId, "number on its machine, or the MIG instance"},
    {"model", Type::kText, Unit::kNone, "as the driver names it"},
    {"ranks", Type::kIntList, Unit::kId, "that worked on it"},
    {"busy_mean_share", Type::kReal, Unit::kShare,
     "of the time, in which any kernel ran, as the driver counts"},
    {"busy_median_share", Type::kReal, Unit::kShare, "half of the samples were not higher"},
    {"busy_p95_share", Type::kReal, Unit::kShare, "19 of 20 samples were not higher"},
    {"memory_busy_mean_share", Type::kReal, Unit::kShare,
     "of the time, in which its memory was read or written, as the driver counts"},
    {"memory_mean_bytes", Type::kReal, Unit::kBytes, "in use, by anybody"},
    {"memory_max_bytes", Type::kInt, Unit::kBytes, "the most"},
    {"job_memory_max_bytes", Type::kInt, Unit::kBytes,
     "the most that processes of the job had of it"},
    {"memory_total_bytes", Type::kInt, Unit::kBytes, "that it has"},
    {"mean_watts", Type::kReal, Unit::kNone, "power it drew"},
    {"p95_watts", Type::kReal, Unit::kNone, "19 of 20 samples were not higher"},
    {"max_watts", Type::kReal, Unit::kNone, "the highest sample"},
    {"limit_watts", Type::kReal, Unit::kNone, "that it may draw"},
    {"mean_mhz", Type::kReal, Unit::kNone, "clock of its multiprocessors"},
    {"memory_mean_mhz", Type::kReal, Unit::kNone, "clock of its memory"},
    {"max_celsius", Type::kInt, Unit::kNone, "temperature"},
    {"memory_max_celsius", Type::kInt, Unit::kNone, "temperature of its memory"},
    {"slowed_share", Type::kReal, Unit::kShare,
     "of the samples, in which heat or power kept its clock down"},
    {"slowed_by", Type::kText, Unit::kNone, "what did, most often first"},
    {"pcie_received_bytes_per_second", Type::kReal, Unit::kBytesPerSecond, "from the host"},
    {"pcie_sent_bytes_per_second", Type::kReal, Unit::kBytesPerSecond, "to the host"},
    {"nvlink_received_bytes_per_second", Type::kReal, Unit::kBytesPerSecond, "from other GPUs"},
    {"nvlink_sent_bytes_per_second", Type::kReal, Unit::kBytesPerSecond, "to other GPUs"},
    {"samples", Type::kInt, Unit::kCount, "of its load"},
});

constexpr std::array kProcessColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    kSystemTablesNode,
    {"processes", Type::kText, Unit::kNone,
     "the training process, or all that it started; where none was seen, the command that "
     "watched the program, and that"},
    {"most", Type::kInt, Unit::kCount, "of them at the same time"},
    {"mean_cores", Type::kReal, Unit::kNone, "processors they kept busy"},
    {"p95_cores", Type::kReal, Unit::kNone, "19 of 20 stretches were not busier"},
    {"max_cores", Type::kReal, Unit::kNone, "in the busiest stretch"},
    {"cpu_ns", Type::kInt, Unit::kNanos, "processor time they used while it was sampled"},
    {"waited_share", Type::kReal, Unit::kShare,
     "of the time, in which their first threads were ready to run and no processor was free; of "
     "several processes the mean"},
    {"usable_cores", Type::kReal, Unit::kNone,
     "processors that it may run on; what several ranks may use is divided among them. Null: not "
     "recorded"},
    {"rss_mean_bytes", Type::kReal, Unit::kBytes,
     "resident memory; what several of them share counts once for each"},
    {"rss_max_bytes", Type::kInt, Unit::kBytes, "the most"},
    {"pss_max_bytes", Type::kInt, Unit::kBytes,
     "the most of the training process and all that it started together, shared memory counted "
     "once; of the few moments at which it was looked at"},
    {"read_bytes", Type::kInt, Unit::kBytes, "by calls of read, from files, pipes and sockets"},
    {"written_bytes", Type::kInt, Unit::kBytes, "so too"},
    {"disk_read_bytes", Type::kInt, Unit::kBytes, "that a disk had to deliver"},
    {"disk_written_bytes", Type::kInt, Unit::kBytes, "so too"},
});

constexpr std::array kSystemTablesStepColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    key::kStep,
    {"start_ns", Type::kInt, Unit::kInstant, "when it began, since the first recording began"},
    {"step_ns", Type::kInt, Unit::kNanos, "its length, without declared validation"},
    {"samples", Type::kInt, Unit::kCount, "moments that were sampled within it"},
    {"gpu_busy_share", Type::kReal, Unit::kShare,
     "of the rank's GPUs, mean of the samples within the step; null: none"},
    {"gpu_memory_bytes", Type::kInt, Unit::kBytes, "the most on its GPUs together"},
    {"gpu_watts", Type::kReal, Unit::kNone, "its GPUs together, mean of the samples"},
    {"cpu_share", Type::kReal, Unit::kShare, "of all processors of its machine, busy"},
    {"process_cores", Type::kReal, Unit::kNone, "that the training process kept busy"},
    {"children_cores", Type::kReal, Unit::kNone, "that the processes it started kept busy"},
    {"read_bytes", Type::kReal, Unit::kBytes, "by it and the processes it started"},
});

constexpr base::ColumnShape kOf{
    "of", Type::kText, Unit::kId,
    "CPU, or GPU and its number, or the load of its memory; with the machine where there are "
    "several"};
constexpr base::ColumnShape kMemoryOf{
    "of", Type::kText, Unit::kId,
    "the host, or GPU and its number, or what processes of the job have of that; with the machine "
    "where there are several"};
constexpr std::array kLoadColumns = std::to_array<base::ColumnShape>({
    kSystemTablesNode,
    kOf,
    kSystemTablesTime,
    {"busy_share", Type::kReal, Unit::kShare, "mean over the stretch that begins there"},
});
constexpr std::array kSystemTablesMemoryColumns = std::to_array<base::ColumnShape>({
    kSystemTablesNode,
    kMemoryOf,
    kSystemTablesTime,
    {"memory_bytes", Type::kReal, Unit::kBytes, "in use, mean over the stretch"},
});

constexpr std::array kTrafficColumns = std::to_array<base::ColumnShape>({
    kSystemTablesNode,
    {"device", Type::kText, Unit::kId, "disk or network interface"},
    {"kind", Type::kText, Unit::kNone, "disk or network"},
    {"in_bytes", Type::kInt, Unit::kBytes, "read or received"},
    {"in_mean_bytes_per_second", Type::kReal, Unit::kBytesPerSecond, ""},
    {"in_max_bytes_per_second", Type::kReal, Unit::kBytesPerSecond, "in the busiest stretch"},
    {"out_bytes", Type::kInt, Unit::kBytes, "written or sent"},
    {"out_mean_bytes_per_second", Type::kReal, Unit::kBytesPerSecond, ""},
    {"out_max_bytes_per_second", Type::kReal, Unit::kBytesPerSecond, "in the busiest stretch"},
    {"busy_share", Type::kReal, Unit::kShare, "of the time, in which a disk had work"},
});

constexpr std::array kFileSystemColumns = std::to_array<base::ColumnShape>({
    kSystemTablesNode,
    {"path", Type::kText, Unit::kId, "where it is mounted, or a folder on it"},
    {"used_max_share", Type::kReal, Unit::kShare,
     "how full it was at most: used, of used and available"},
    {"used_first_bytes", Type::kInt, Unit::kBytes, "in use at the first look"},
    {"used_last_bytes", Type::kInt, Unit::kBytes, "and at the last"},
    {"available_min_bytes", Type::kInt, Unit::kBytes, "the least that was left"},
});

constexpr std::array kCoreColumns = std::to_array<base::ColumnShape>({
    kSystemTablesNode,
    {"core", Type::kInt, Unit::kId, "number of the processor"},
    {"busy_mean_share", Type::kReal, Unit::kShare, "of the time"},
    {"busy_p95_share", Type::kReal, Unit::kShare, "19 of 20 stretches were not busier"},
    {"busy_max_share", Type::kReal, Unit::kShare, "in the busiest stretch"},
});

constexpr std::array kMissingColumns = std::to_array<base::ColumnShape>({
    kSystemTablesNode,
    {"source", Type::kText, Unit::kNone, "who could not see it"},
    kSystemTablesTime,
    {"missing", Type::kText, Unit::kNone, "what is not known, and why"},
});

constexpr std::array<std::string_view, 1> kCpuMean = {"cpu_mean_share"};
constexpr std::array<std::string_view, 1> kBusyMean = {"busy_mean_share"};
constexpr std::array<std::string_view, 1> kMeanCores = {"mean_cores"};
constexpr std::array<std::string_view, 1> kStepBusy = {"gpu_busy_share"};
constexpr std::array<std::string_view, 1> kSystemTablesBusy = {"busy_share"};
constexpr std::array<std::string_view, 1> kSystemTablesBytes = {"memory_bytes"};

}  // namespace

// What is short first: a row for each step or moment comes last.
const std::array<base::TableShape, 10> kSystemTables = {{
    {"machines",
     "one machine over the whole run",
     kMachineColumns,
     {base::Chart::kBars, "node", kCpuMean}},
    {"gpus",
     "one GPU of the job over the whole run",
     kGpuColumns,
     {base::Chart::kBars, "gpu", kBusyMean, "node"}},
    {"processes",
     "the processes of one rank over the whole run",
     kProcessColumns,
     {base::Chart::kBars, "processes", kMeanCores, "rank"}},
    {"traffic", "one disk or network interface", kTrafficColumns},
    {"file_systems", "how full one file system of a machine was", kFileSystemColumns},
    {"missing", "something that could not be seen, the first first", kMissingColumns},
    {"cores",
     "one processor of a machine",
     kCoreColumns,
     {base::Chart::kBars, "core", kBusyMean, "node"}},
    {"steps",
     "one step of one rank, by the samples within it",
     kSystemTablesStepColumns,
     {base::Chart::kLine, "step", kStepBusy, "rank"}},
    {"load",
     "how busy a device was, over time",
     kLoadColumns,
     {base::Chart::kLine, "time_ns", kSystemTablesBusy, "of"}},
    {"memory",
     "how much memory was in use, over time",
     kSystemTablesMemoryColumns,
     {base::Chart::kLine, "time_ns", kSystemTablesBytes, "of"}},
}};

SystemTables::SystemTables()
    : machines(kSystemTables[0]),
      gpus(kSystemTables[1]),
      processes(kSystemTables[2]),
      traffic(kSystemTables[3]),
      file_systems(kSystemTables[4]),
      missing(kSystemTables[5]),
      cores(kSystemTables[6]),
      steps(kSystemTables[7]),
      load(kSystemTables[8]),
      memory(kSystemTables[9]) {}

std::vector<base::Table> SystemTables::take() {
  std::vector<base::Table> list;
  for (base::Table* table : {&machines, &gpus, &processes, &traffic, &file_systems, &missing,
                             &cores, &steps, &load, &memory}) {
    list.push_back(std::move(*table));
  }
  return list;
}

}  // namespace stepscope::analysis
