// The run at a glance: a row for the run, a row per rank, a row per device.
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>

#include "analysis/analysis.h"
#include "analysis/key_columns.h"
#include "analysis/registry.h"
#include "analysis/steps/device_use.h"
#include "analysis/steps/step_statistics.h"
#include "analysis/view.h"

namespace stepscope::analysis {
namespace {

using base::Cell;
using base::Null;
using base::Type;
using base::Unit;

constexpr std::array kOverviewRunColumns = std::to_array<base::ColumnShape>({
    {"ranks", Type::kInt, Unit::kCount, "ranks in these files"},
    {"world_size", Type::kInt, Unit::kCount, "ranks of the whole job, as the files say"},
    {"recordings", Type::kInt, Unit::kCount, "files; a rank may have several"},
    {"hosts", Type::kInt, Unit::kCount, "machines, as far as the files name them"},
    {"devices", Type::kInt, Unit::kCount, "GPUs that did something"},
    {"backend", Type::kText, Unit::kNone, "of communication: nccl, gloo, ..."},
    {"steps", Type::kInt, Unit::kCount, "of the rank that has most"},
    {"step_mean_ns", Type::kReal, Unit::kNanos, "over all steps of all ranks"},
    {"slowest_rank", Type::kInt, Unit::kId, "whose average step is longest"},
    {"rank_spread", Type::kReal, Unit::kNone,
     "average step of the slowest rank divided by that of the fastest"},
});

constexpr std::array kOverviewRankColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    {"steps", Type::kInt, Unit::kCount, "how many steps"},
    {"step_mean_ns", Type::kReal, Unit::kNanos, "average step"},
    {"step_median_ns", Type::kInt, Unit::kNanos, "half of the steps were not longer"},
    {"step_p95_ns", Type::kInt, Unit::kNanos, "19 of 20 steps were not longer"},
    {"step_sd_ns", Type::kReal, Unit::kNanos, "standard deviation of the sample"},
    {"steps_per_second", Type::kReal, Unit::kPerSecond,
     "from the start of the first to the end of the last step"},
    {"kernel_share", Type::kReal, Unit::kShare, "of the steps: a computing kernel runs"},
    {"memcpy_share", Type::kReal, Unit::kShare, "of the steps: no kernel, but a copy"},
    {"memset_share", Type::kReal, Unit::kShare, "of the steps: none of these, but a memset"},
    {"communication_share", Type::kReal, Unit::kShare,
     "of the steps: none of these, but communication"},
    {"runtime_share", Type::kReal, Unit::kShare,
     "of the steps: none of these, but the host is in a call to the GPU"},
    {"dataloader_share", Type::kReal, Unit::kShare,
     "of the steps: none of these, but the host waits for data"},
    {"cpu_exec_share", Type::kReal, Unit::kShare,
     "of the steps: none of these, but the host runs operators"},
    {"other_share", Type::kReal, Unit::kShare, "of the steps: none of these"},
});

constexpr std::array kOverviewDeviceColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    key::kDevice,
    {"name", Type::kText, Unit::kNone, "of the device"},
    {"kernel_busy_share", Type::kReal, Unit::kShare,
     "of the time from the first to the last step: a kernel runs (TensorBoard's GPU utilization)"},
    {"busy_share", Type::kReal, Unit::kShare,
     "of the same time: a kernel, a copy or a memset runs"},
    {"sm_efficiency", Type::kReal, Unit::kShare,
     "of the same time: multiprocessors that have a block to run, on average"},
    {"occupancy", Type::kReal, Unit::kShare,
     "how full the multiprocessors are while kernels run, as the profiler estimates it"},
    {"peak_allocated_bytes", Type::kInt, Unit::kBytes, "most memory tensors ever took"},
    {"peak_reserved_bytes", Type::kInt, Unit::kBytes, "most memory PyTorch ever held"},
    {"memory_bytes", Type::kInt, Unit::kBytes, "memory the device has"},
    {"peak_reserved_share", Type::kReal, Unit::kShare, "of the device's memory"},
});

constexpr std::array<std::string_view, kPartCount> kOverviewStacked = {
    "kernel_share",  "memcpy_share",     "memset_share",   "communication_share",
    "runtime_share", "dataloader_share", "cpu_exec_share", "other_share"};
constexpr std::array<std::string_view, 2> kOverviewBusy = {"kernel_busy_share", "busy_share"};
constexpr std::array kOverviewTables = std::to_array<base::TableShape>({
    {"run", "the run", kOverviewRunColumns},
    {"ranks", "one rank", kOverviewRankColumns, {base::Chart::kStack, "rank", kOverviewStacked}},
    {"devices",
     "one device of one rank",
     kOverviewDeviceColumns,
     {base::Chart::kBars, "rank", kOverviewBusy}},
});

double average(const RankSteps& rank) { return rank.durations().mean(); }

void add_overview_run(base::Table& table, const RunView& view, const std::vector<RankSteps>& ranks,
                      std::size_t devices) {
  std::set<std::string_view> hosts;
  std::string_view backend;
  std::optional<std::int64_t> world;
  for (const WindowView& window : view.windows) {
    const trace::Header& header = window.trace->header();
    if (!header.host.empty()) hosts.insert(header.host);
    if (!header.distributed) continue;
    if (backend.empty()) backend = header.distributed->backend;
    if (!world) world = header.distributed->world_size;
  }
  Durations all;
  const RankSteps* slowest = nullptr;
  const RankSteps* fastest = nullptr;
  std::size_t steps = 0;
  std::size_t compared = 0;
  for (const RankSteps& rank : ranks) {
    if (rank.steps.empty()) continue;
    ++compared;
    all.merge(rank.durations());
    steps = std::max(steps, rank.steps.size());
    if (slowest == nullptr || average(rank) > average(*slowest)) slowest = &rank;
    if (fastest == nullptr || average(rank) < average(*fastest)) fastest = &rank;
  }
  const bool several = compared > 1;
  table.add({ranks.size(), world, view.windows.size(), hosts.empty() ? Cell(Null{}) : hosts.size(),
             devices, backend.empty() ? Cell(Null{}) : backend, steps,
             slowest == nullptr ? Cell(Null{}) : all.mean(),
             several ? Cell(slowest->rank) : Cell(Null{}),
             several ? Cell(average(*slowest) / average(*fastest)) : Cell(Null{})});
}

void add_overview_rank(base::Table& table, const RankSteps& rank) {
  Durations d = rank.durations();
  std::vector<Cell> row = {rank.rank,        d.count(),          d.mean(),
                           d.median(),       d.percentile(0.95), d.standard_deviation(),
                           rank.per_second()};
  const auto all = static_cast<double>(d.sum());
  for (const base::Nanos part : rank.sum()) row.emplace_back(static_cast<double>(part) / all);
  table.add(row);
}

struct OverviewDevice {
  DeviceUse use;
  std::string name;
  std::int64_t memory = 0;
};
using Devices = std::map<std::pair<std::int32_t, std::int32_t>, OverviewDevice>;  // rank, device

Devices devices_of(const RunView& view) {
  const auto partials = per_window<std::map<std::int32_t, DeviceUse>>(view, device_use);
  Devices devices;
  for (std::size_t w = 0; w < partials.size(); ++w) {
    const WindowView& window = view.windows[w];
    for (const auto& [number, use] : partials[w]) {
      OverviewDevice& device = devices[{window.rank, number}];
      device.use.merge(use);
      if (const auto* properties = trace::described(window.trace->header(), number)) {
        device.name = properties->name;
        device.memory = properties->memory_bytes;
      }
    }
  }
  return devices;
}

void add_overview_device(base::Table& table, std::int32_t rank, std::int32_t number,
                         const OverviewDevice& device) {
  const DeviceUse& use = device.use;
  const bool sized = device.memory > 0;
  table.add({rank, number, device.name.empty() ? Cell(Null{}) : device.name, use.kernel_share(),
             use.busy_share(), use.sm_efficiency(), use.occupancy_mean(), use.allocated,
             use.reserved, sized ? Cell(device.memory) : Cell(Null{}),
             sized && use.reserved
                 ? Cell(static_cast<double>(*use.reserved) / static_cast<double>(device.memory))
                 : Cell(Null{})});
}

Answer run_overview(const RunView& view, const Options&) {
  const std::vector<RankSteps> ranks = steps_by_rank(view, Definition::kOurs);
  const Devices found = devices_of(view);
  base::Table whole(kOverviewTables[0]);
  base::Table by_rank(kOverviewTables[1]);
  base::Table by_device(kOverviewTables[2]);
  add_overview_run(whole, view, ranks, found.size());
  for (const RankSteps& rank : ranks) {
    if (!rank.steps.empty()) add_overview_rank(by_rank, rank);
  }
  for (const auto& [key, device] : found)
    add_overview_device(by_device, key.first, key.second, device);

  Answer answer;
  if (auto remark = why_no_steps(view); !remark.empty()) answer.remarks.push_back(remark);
  if (!view.has_device_work()) answer.remarks.push_back(why_no_device_work(view));
  answer.tables.push_back(std::move(whole));
  answer.tables.push_back(std::move(by_rank));
  answer.tables.push_back(std::move(by_device));
  return answer;
}

}  // namespace

const Analysis kOverview{
    .name = "overview",
    .title = "Overview",
    .question = "How long are the steps, where does their time go, how busy are the GPUs?",
    .parameters = {},
    .tables = kOverviewTables,
    .run = run_overview,
};

}  // namespace stepscope::analysis
