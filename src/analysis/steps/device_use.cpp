#include "analysis/steps/device_use.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "analysis/arithmetic/sorted_runs.h"
#include "analysis/known_occupancy.h"

namespace stepscope::analysis {
namespace {

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

}  // namespace

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

}  // namespace stepscope::analysis
