// What was sampled of the machines under a run, as lines on the axis of the run: processors,
// memory, GPUs with their power, disks, network, and the processes of the job.
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "analysis/recording/recorded_steps.h"
#include "analysis/system/node_curves.h"
#include "session/timeline/track_list.h"

namespace stepscope::session {
namespace {

using analysis::Curve;
using base::Nanos;

// A series that is drawn: what it is called, and how its whole numbers become the unit.
struct SampledLine {
  std::string_view series;
  std::string_view label;  // after the name of the device
  std::string_view unit;
  double scale = 1;            // of values; of a running total: of its growth per nanosecond
  bool of_processors = false;  // a share of all processors; ticks of the kernel are coarse, so that
                               // what was counted may seem a little more than there was time for
};

constexpr std::array kSampledLines = std::to_array<SampledLine>({
    {.series = "gpu.busy", .label = "utilisation", .unit = "%"},
    {.series = "gpu.power", .label = "power", .unit = "W", .scale = 1e-3},
    {.series = "gpu.memory", .label = "memory in use", .unit = "bytes"},
    {.series = "gpu.temperature", .label = "temperature", .unit = "°C"},
    {.series = "gpu.clock", .label = "clock", .unit = "MHz"},
    {.series = "cpu.busy",
     .label = "CPU utilisation",
     .unit = "%",
     .scale = 100,
     .of_processors = true},
    {.series = "memory.used", .label = "host memory in use", .unit = "bytes"},
    {.series = "process.rss", .label = "memory", .unit = "bytes"},
    {.series = "process.cpu", .label = "CPU", .unit = "cores"},
    {.series = "disk.read", .label = "read", .unit = "bytes/s", .scale = 1e9},
    {.series = "disk.written", .label = "written", .unit = "bytes/s", .scale = 1e9},
    {.series = "network.received", .label = "received", .unit = "bytes/s", .scale = 1e9},
    {.series = "network.sent", .label = "sent", .unit = "bytes/s", .scale = 1e9},
});

std::string label_of(const SampledLine& line, const Curve& curve) {
  const std::string_view device = curve.field("device");
  if (line.series.starts_with("gpu.")) return fmt::format("GPU {} {}", device, line.label);
  if (line.series.starts_with("process.")) {
    const bool children = curve.field("of") == "children";
    return fmt::format("rank {} {}{}", curve.field("rank"), line.label,
                       children ? " of workers" : "");
  }
  return device.empty() ? std::string(line.label) : fmt::format("{} {}", device, line.label);
}

// A running total is drawn as its growth per time from each sample to the next.
std::vector<CounterLine::Sample> samples_of(const Curve& curve, double scale, Nanos offset) {
  std::vector<CounterLine::Sample> samples;
  for (std::size_t i = 0; i < curve.times.size(); ++i) {
    const Nanos time = curve.times[i] + offset;
    if (!curve.is_counter()) {
      samples.push_back({time, static_cast<double>(curve.values[i]) * scale});
      continue;
    }
    if (i + 1 == curve.times.size()) break;
    const auto growth = static_cast<double>(curve.values[i + 1] - curve.values[i]);
    const auto length = static_cast<double>(curve.times[i + 1] - curve.times[i]);
    if (growth < 0 || length <= 0) continue;  // it began anew
    samples.push_back({time, growth / length * scale});
  }
  return samples;
}

// Only the time of the run is drawn; what held when it began is known.
void clip_samples(std::vector<CounterLine::Sample>& samples, Nanos length) {
  const auto beyond = std::ranges::upper_bound(samples, length, {}, &CounterLine::Sample::time);
  samples.erase(beyond, samples.end());
  auto first = std::ranges::upper_bound(samples, Nanos{0}, {}, &CounterLine::Sample::time);
  if (first == samples.begin()) return;
  --first;
  first->time = 0;
  samples.erase(samples.begin(), first);
}

bool is_flat_zero(const std::vector<CounterLine::Sample>& samples) {
  return std::ranges::all_of(samples, [](const auto& sample) { return sample.value == 0; });
}

}  // namespace

void TrackList::add_sampled(const analysis::RunView& view) {
  if (view.nodes.empty() || !timeline_->recorded_offset) return;
  const Nanos offset = *timeline_->recorded_offset;
  std::int64_t number = 0;
  for (const analysis::NodeCurves& node : analysis::node_curves(view)) {
    const std::optional<Curve> load = analysis::machine_load(node);
    for (std::size_t i = 0; i < kSampledLines.size(); ++i) {
      const SampledLine& line = kSampledLines[i];
      if (line.of_processors && !load) continue;
      for (const Curve* sampled : node.named(line.series)) {
        const Curve* const curve = line.of_processors ? &*load : sampled;
        std::vector<CounterLine::Sample> samples = samples_of(*curve, line.scale, offset);
        clip_samples(samples, timeline_->length);
        if (line.of_processors) {
          for (CounterLine::Sample& sample : samples) sample.value = std::min(sample.value, 100.0);
        }
        const bool traffic = line.unit == "bytes/s";
        if (samples.empty() || (traffic && is_flat_zero(samples))) continue;
        // After all ranks, by machine, in the order of the table above.
        const Order order{kMachineRank,          kMachineSection, number, static_cast<int>(i), 0,
                          label_of(line, *curve)};
        TimelineTrack& to = tracks_[order];
        to.kind = TrackKind::kCounter;
        to.rank = kMachineRank;
        to.host = node.host;
        to.group = node.host.empty() ? "machine" : fmt::format("machine {}", node.host);
        to.label = label_of(line, *curve);
        to.unit = line.unit;
        to.first = samples.front().time;
        to.last = samples.back().time;
        std::ranges::copy(samples, std::back_inserter(lines_[order]));
      }
    }
    ++number;
  }
}

}  // namespace stepscope::session
