#include "capture/system/nvidia_device.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "capture/ticks.h"

namespace stepscope::capture {
namespace {

// Fields, by their numbers.
constexpr unsigned kMemoryTemperature = 82;
constexpr unsigned kNvlinkSent = 138;
constexpr unsigned kNvlinkReceived = 139;
constexpr unsigned kPowerNow = 186;
constexpr unsigned kPcieSent = 197;
constexpr unsigned kPcieReceived = 198;
constexpr unsigned kAllLinks = ~0U;
constexpr unsigned kFields[] = {kMemoryTemperature, kNvlinkSent, kNvlinkReceived, kPcieSent,
                                kPcieReceived};
constexpr std::int64_t kBetweenEnergyNs = 10'000'000'000;

constexpr int kSmClock = 1;
constexpr int kMemoryClock = 2;
constexpr std::int64_t kKibi = 1024;
constexpr std::int64_t kWrap32 = std::int64_t{1} << 32;
constexpr unsigned long long kNotKnown = ~0ULL;

}  // namespace

template <class Function, class... Arguments>
bool NvidiaDevice::ask(Samples& samples, Function* function, std::string_view name,
                       Arguments... arguments) {
  if (gone_ || function == nullptr || unsupported_.contains(name)) return false;
  const int result = function(device_, arguments...);
  if (result == 0) return true;
  if (result == kNvmlGpuIsLost) {
    gone_ = true;
    samples.say("nvml", "GPU " + series_.label() +
                            " disappeared while the run went on: from here on nothing is known of "
                            "it.");
  } else if (result == kNvmlNotSupported || result == kNvmlNoPermission) {
    unsupported_.emplace(name);
    samples.say("nvml", "GPU " + series_.label() + " does not tell its " + std::string(name) +
                            (result == kNvmlNoPermission ? " to this user." : "."));
  }
  return false;
}

void NvidiaDevice::sample_links(Samples& samples) {
  std::array<NvmlField, std::size(kFields)> fields{};
  for (std::size_t i = 0; i < fields.size(); ++i) {
    fields[i].id = kFields[i];
    if (kFields[i] == kNvlinkSent || kFields[i] == kNvlinkReceived) fields[i].scope = kAllLinks;
  }
  const auto count = static_cast<int>(fields.size());
  if (!ask(samples, nvml_.fields, "field values", count, fields.data())) return;
  for (const NvmlField& field : fields) {
    const auto value = field.whole();
    if (!value) continue;
    switch (field.id) {
      case kMemoryTemperature:
        if (*value > 0) series_.gauge(samples, "gpu.memory_temperature", "C", *value);
        break;
      case kNvlinkSent:
        series_.counter(samples, "gpu.nvlink_sent", "bytes", *value * kKibi);
        break;
      case kNvlinkReceived:
        series_.counter(samples, "gpu.nvlink_received", "bytes", *value * kKibi);
        break;
      default: {
        const bool sent = field.id == kPcieSent;
        Wrapping& wrapping = pcie_[sent ? 0 : 1];
        if (field.is_32_bit() && *value < wrapping.last) wrapping.before += kWrap32;
        wrapping.last = *value;
        series_.counter(samples, sent ? "gpu.pcie_sent" : "gpu.pcie_received", "bytes",
                        wrapping.before + *value);
      }
    }
  }
}

// Power of the moment, which older drivers do not tell.
std::optional<std::int64_t> NvidiaDevice::power_now(Samples& samples) {
  if (power_reading_ == PowerReading::kUsage) return std::nullopt;
  NvmlField field{};
  field.id = kPowerNow;
  if (!ask(samples, nvml_.fields, "field values", 1, &field)) return std::nullopt;
  return field.whole();
}

void NvidiaDevice::take_power(Samples& samples) {
  unsigned milliwatts = 0;
  if (const auto now = power_now(samples)) {
    power_reading_ = PowerReading::kInstant;
    series_.power(samples, *now, "instant");
  } else if (power_reading_ != PowerReading::kInstant &&
             ask(samples, nvml_.power, "power", &milliwatts)) {
    power_reading_ = PowerReading::kUsage;
    series_.power(samples, milliwatts, "usage");
  }
  if (ask(samples, nvml_.power_limit, "power limit", &milliwatts)) {
    series_.constant(samples, "gpu.power_limit", "mW", milliwatts);
  }
}

void NvidiaDevice::sample_energy(Samples& samples, bool now) {
  const std::int64_t time = clock_ns(CLOCK_MONOTONIC);
  if (!now && time < next_energy_ns_) return;
  next_energy_ns_ = time + kBetweenEnergyNs;
  unsigned long long millijoules = 0;
  if (ask(samples, nvml_.energy, "energy", &millijoules)) {
    series_.counter(samples, "gpu.energy", "mJ", static_cast<std::int64_t>(millijoules));
  }
}

void NvidiaDevice::take_memory(Samples& samples) {
  // The newer call leaves out what the driver keeps for itself, as nvidia-smi does.
  NvmlMemory2 memory2{
      .version = sizeof(NvmlMemory2) | 2U << 24, .total = 0, .reserved = 0, .free = 0, .used = 0};
  NvmlMemory memory{};
  if (nvml_.memory2 != nullptr && ask(samples, nvml_.memory2, "memory", &memory2)) {
    memory = {memory2.total, memory2.free, memory2.used};
  } else if (!ask(samples, nvml_.memory, "memory (older call)", &memory)) {
    return;
  }
  series_.gauge(samples, "gpu.memory", "bytes", static_cast<std::int64_t>(memory.used));
  series_.constant(samples, "gpu.memory_total", "bytes", static_cast<std::int64_t>(memory.total));
}

void NvidiaDevice::take_state(Samples& samples) {
  NvmlUtilization rates{};
  if (ask(samples, nvml_.utilization, "utilisation", &rates)) {
    series_.gauge(samples, "gpu.busy", "%", rates.gpu);
    series_.gauge(samples, "gpu.memory_busy", "%", rates.memory);
  }
  unsigned value = 0;
  if (ask(samples, nvml_.clock, "clock", kSmClock, &value)) {
    series_.gauge(samples, "gpu.clock", "MHz", value);
  }
  if (ask(samples, nvml_.clock, "memory clock", kMemoryClock, &value)) {
    series_.gauge(samples, "gpu.memory_clock", "MHz", value);
  }
  if (ask(samples, nvml_.temperature, "temperature", 0, &value)) {
    series_.gauge(samples, "gpu.temperature", "C", value);
  }
  unsigned long long reasons = 0;
  if (ask(samples, nvml_.clock_reasons, "reasons for lower clocks", &reasons)) {
    series_.gauge(samples, "gpu.clock_reasons", "bits", static_cast<std::int64_t>(reasons));
  }
}

void NvidiaDevice::sample(Samples& samples) {
  take_power(samples);
  take_memory(samples);
  take_state(samples);
}

void NvidiaDevice::sample_processes(Samples& samples, const Job& job) {
  if (gone_ || nvml_.compute_processes == nullptr) return;
  std::vector<NvmlProcess> processes(64);
  auto count = static_cast<unsigned>(processes.size());
  int result = nvml_.compute_processes(device_, &count, processes.data());
  if (result == kNvmlTooSmall) {
    processes.resize(std::size_t{count} * 2);
    count = static_cast<unsigned>(processes.size());
    result = nvml_.compute_processes(device_, &count, processes.data());
  }
  if (result != 0) return;
  std::map<std::int64_t, std::int64_t> by_rank;
  for (const NvmlProcess& process :
       std::span(processes).first(std::min<std::size_t>(count, processes.size()))) {
    const auto rank = job.rank_of(static_cast<int>(process.pid));
    if (!rank) continue;
    std::int64_t& bytes = by_rank.try_emplace(*rank, 0).first->second;
    if (process.used_bytes == kNotKnown) bytes = -1;
    if (bytes >= 0) bytes += static_cast<std::int64_t>(process.used_bytes);
  }
  for (const auto& [rank, bytes] : by_rank) series_.used_by(samples, rank, bytes);
}

}  // namespace stepscope::capture
