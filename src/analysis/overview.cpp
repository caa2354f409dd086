// The run at a glance: a row for the run, a row per rank, a row per device.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/arithmetic/sorted_runs.h"
#include "analysis/key_columns.h"
#include "analysis/known_occupancy.h"
#include "analysis/registry.h"
#include "analysis/steps/step_parts.h"
#include "analysis/view.h"

namespace stepscope::analysis {
namespace {

// How well a device is used during the steps: time it works, how many of its multiprocessors have
// something to do, how full they are. Sums in integers, so that windows can be added.

struct DeviceUse {
  base::Nanos stretch = 0;        // from the first to the last step, what lies between included
  base::Nanos kernels = 0;        // a kernel runs
  base::Nanos busy = 0;           // a kernel, a copy or a memset runs
  double filled = 0;              // time × share of the multiprocessors that have a block
  base::Nanos filled_for = 0;     // of kernels that say how many blocks each multiprocessor gets
  double occupancy = 0;           // time × occupancy, 0 to 1
  base::Nanos occupancy_for = 0;  // of kernels that say it
  std::optional<base::Bytes> allocated, reserved;  // the most there ever was

  void merge(const DeviceUse& other);
  // Nothing where the trace does not carry it.
  std::optional<double> kernel_share() const {
    return share(static_cast<double>(kernels), stretch);
  }
  std::optional<double> busy_share() const { return share(static_cast<double>(busy), stretch); }
  std::optional<double> sm_efficiency() const {
    return filled_for > 0 ? share(filled, stretch) : std::nullopt;
  }
  std::optional<double> occupancy_mean() const { return share(occupancy, occupancy_for); }

 private:
  static std::optional<double> share(double part, base::Nanos whole) {
    if (whole <= 0) return std::nullopt;
    return part / static_cast<double>(whole);
  }
};

using base::Nanos;

constexpr std::int64_t kOne = 1'000'000;  // a block per multiprocessor; files give six digits

// The profilers' values are floats; as whole millionths their sums are exact in any order.
std::optional<std::int64_t> millionths(float value) {
  if (!(value >= 0) || value > 1e9F) return std::nullopt;
  return std::llround(static_cast<double>(value) * static_cast<double>(kOne));
}

struct Change {
  Nanos time;
  std::int64_t blocks;  // more or fewer per multiprocessor
};

// The integral over time of min(blocks per multiprocessor of all running kernels, 1).
double filled_time(std::vector<Change> changes, const std::vector<Change>& ends) {
  changes.insert(changes.end(), ends.begin(), ends.end());
  sort_runs(changes, [](const Change& a, const Change& b) { return a.time < b.time; });
  __extension__ using Wide = __int128;
  Wide sum = 0;
  std::int64_t running = 0;
  Nanos last = 0;
  for (const Change& change : changes) {
    sum += static_cast<Wide>(std::min(running, kOne)) * (change.time - last);
    running += change.blocks;
    last = change.time;
  }
  return static_cast<double>(sum) / static_cast<double>(kOne);
}

struct DeviceUseKernels {
  std::vector<Change> starts, ends;  // each nearly in order
  DeviceUse& use;

  void add(const trace::KernelTable& kernels, std::uint32_t entry, Interval ran) {
    if (const auto blocks = millionths(kernels.blocks_per_sm[entry]); blocks && *blocks > 0) {
      starts.push_back({ran.start, *blocks});
      ends.push_back({ran.end, -*blocks});
      use.filled_for += ran.length();
    }
    if (const float percent = known_occupancy(kernels, entry); percent >= 0) {
      use.occupancy += static_cast<double>(percent) / 100 * static_cast<double>(ran.length());
      use.occupancy_for += ran.length();
    }
  }
};

void add_kernels(const WindowView& window, const DeviceView& device, const Intervals& measured,
                 DeviceUse& use) {
  const trace::KernelTable& kernels = window.trace->kernels();
  DeviceUseKernels found{.starts = {}, .ends = {}, .use = use};
  for (const Work& piece : window.work_of(device)) {
    const std::uint32_t entry = kernels.rows.find(piece.row);
    if (entry == base::RowSet::kNone) continue;
    auto stretch = std::ranges::upper_bound(measured, piece.start, {}, &Interval::end);
    for (; stretch != measured.end() && stretch->start < piece.end; ++stretch) {
      found.add(kernels, entry,
                {std::max(piece.start, stretch->start), std::min(piece.end, stretch->end)});
    }
  }
  use.filled += filled_time(std::move(found.starts), found.ends);
}

void raise(std::optional<base::Bytes>& most, base::Bytes now) {
  if (now >= 0 && (!most || now > *most)) most = now;
}

void add_device_use_memory(const WindowView& window, std::map<std::int32_t, DeviceUse>& devices) {
  const trace::MemoryTable& memory = window.trace->memory_events();
  memory.rows.for_each([&](trace::Row row, std::uint32_t entry) {
    if (memory.device_type[entry] <= 0 || memory.device_id[entry] < 0) return;  // the host's
    if (!window.counts_at(window.trace->start()[row])) return;
    DeviceUse& use = devices[memory.device_id[entry]];
    raise(use.allocated, memory.total_allocated[entry]);
    raise(use.reserved, memory.total_reserved[entry]);
  });
}

void DeviceUse::merge(const DeviceUse& other) {
  stretch += other.stretch;
  kernels += other.kernels;
  busy += other.busy;
  filled += other.filled;
  filled_for += other.filled_for;
  occupancy += other.occupancy;
  occupancy_for += other.occupancy_for;
  if (other.allocated) raise(allocated, *other.allocated);
  if (other.reserved) raise(reserved, *other.reserved);
}

// By number; also devices that only have memory events.
std::map<std::int32_t, DeviceUse> device_use(const WindowView& window) {
  std::map<std::int32_t, DeviceUse> devices;
  const Intervals measured = stretches(window.steps);
  for (const DeviceView& device : window.devices) {
    DeviceUse& use = devices[device.device];
    const Intervals kernels = unite(device.compute, device.communication);
    for (const Interval& stretch : measured) {
      use.stretch += stretch.length();
      use.kernels += covered(kernels, stretch);
      use.busy += covered(device.busy, stretch);
    }
    add_kernels(window, device, measured, use);
  }
  add_device_use_memory(window, devices);
  return devices;
}

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
