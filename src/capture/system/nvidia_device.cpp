// One NVIDIA GPU and the functions of NVML: which counters it has, and how often they are asked.
#include "capture/system/nvidia_device.h"

#include <dlfcn.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <span>
#include <vector>

namespace stepscope::capture {

namespace {

template <class Function>
void find(void* library, Function*& function, const char* name, const char* older = nullptr) {
  function = reinterpret_cast<Function*>(::dlsym(library, name));
  if (function == nullptr && older != nullptr) {
    function = reinterpret_cast<Function*>(::dlsym(library, older));
  }
}

}  // namespace

std::optional<std::int64_t> NvmlField::whole() const {
  if (result != 0) return std::nullopt;
  switch (type) {
    case 0:
      return static_cast<std::int64_t>(value.real);
    case 1:
      return value.unsigned_int;
    case 2:
      return static_cast<std::int64_t>(value.unsigned_long);
    case 3:
      return static_cast<std::int64_t>(value.unsigned_long_long);
    case 4:
      return value.signed_long_long;
    case 5:
      return value.signed_int;
    case 6:
      return value.unsigned_short;
    default:
      return std::nullopt;
  }
}

std::optional<Nvml> Nvml::open(const std::string& library, std::string& why_not) {
  void* const handle = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    why_not = "NVIDIA GPUs are not measured: there is no " + library + " here.";
    return std::nullopt;
  }
  Nvml nvml{};
  find(handle, nvml.init, "nvmlInit_v2");
  find(handle, nvml.shutdown, "nvmlShutdown");
  find(handle, nvml.device_count, "nvmlDeviceGetCount_v2");
  find(handle, nvml.device_by_index, "nvmlDeviceGetHandleByIndex_v2");
  find(handle, nvml.device_by_uuid, "nvmlDeviceGetHandleByUUID");
  find(handle, nvml.parent_of_part, "nvmlDeviceGetDeviceHandleFromMigDeviceHandle");
  find(handle, nvml.uuid, "nvmlDeviceGetUUID");
  find(handle, nvml.name, "nvmlDeviceGetName");
  find(handle, nvml.minor_number, "nvmlDeviceGetMinorNumber");
  find(handle, nvml.utilization, "nvmlDeviceGetUtilizationRates");
  find(handle, nvml.memory, "nvmlDeviceGetMemoryInfo");
  find(handle, nvml.memory2, "nvmlDeviceGetMemoryInfo_v2");
  find(handle, nvml.power, "nvmlDeviceGetPowerUsage");
  find(handle, nvml.power_limit, "nvmlDeviceGetEnforcedPowerLimit");
  find(handle, nvml.energy, "nvmlDeviceGetTotalEnergyConsumption");
  find(handle, nvml.clock, "nvmlDeviceGetClockInfo");
  find(handle, nvml.temperature, "nvmlDeviceGetTemperature");
  find(handle, nvml.clock_reasons, "nvmlDeviceGetCurrentClocksEventReasons",
       "nvmlDeviceGetCurrentClocksThrottleReasons");
  find(handle, nvml.fields, "nvmlDeviceGetFieldValues");
  find(handle, nvml.compute_processes, "nvmlDeviceGetComputeRunningProcesses_v3");
  if (nvml.init == nullptr || nvml.device_count == nullptr || nvml.device_by_index == nullptr) {
    why_not = "NVIDIA GPUs are not measured: " + library + " is too old.";
    return std::nullopt;
  }
  if (const int error = nvml.init(); error != 0) {
    why_not = "NVIDIA GPUs are not measured: " + library + " does not reach the driver (error " +
              std::to_string(error) + ").";
    return std::nullopt;
  }
  return nvml;
}

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
constexpr std::int64_t kBetweenProcessesNs = 5'000'000'000;
constexpr std::int64_t kBetweenEnergyNs = 10'000'000'000;
// When within the call the counter had its value is not known: as much time as the analysis of
// energy allows its ends for.
constexpr std::int64_t kLongestAnswerNs = 100'000'000;

constexpr int kSmClock = 1;
constexpr int kMemoryClock = 2;
constexpr std::int64_t kKibi = 1024;
constexpr std::int64_t kWrap32 = std::int64_t{1} << 32;
constexpr unsigned long long kNotKnown = ~0ULL;

}  // namespace

void NvidiaHandle::refused(Samples& samples, int result, std::string_view name) {
  if (result == kNvmlGpuIsLost) {
    gone_ = true;
    samples.add_notice("nvml",
                       "GPU " + label_ +
                           " disappeared while the run went on: from here on nothing is known of "
                           "it.");
  } else if (result == kNvmlNotSupported || result == kNvmlNoPermission) {
    unsupported_.emplace(name);
    samples.add_notice("nvml", "GPU " + label_ + " does not tell its " + std::string(name) +
                                   (result == kNvmlNoPermission ? " to this user." : "."));
  }
}

void NvidiaDevice::take_links(Samples& samples) {
  std::array<NvmlField, std::size(kFields)> fields{};
  for (std::size_t i = 0; i < fields.size(); ++i) {
    fields[i].id = kFields[i];
    if (kFields[i] == kNvlinkSent || kFields[i] == kNvlinkReceived) fields[i].scope = kAllLinks;
  }
  const auto count = static_cast<int>(fields.size());
  if (!handle_.ask(samples, handle_.nvml().fields, "field values", count, fields.data())) return;
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
  if (!handle_.ask(samples, handle_.nvml().fields, "field values", 1, &field)) return std::nullopt;
  return field.whole();
}

void NvidiaDevice::take_power(Samples& samples) {
  unsigned milliwatts = 0;
  if (const auto now = power_now(samples)) {
    power_reading_ = PowerReading::kInstant;
    series_.power(samples, *now, "instant");
  } else if (power_reading_ != PowerReading::kInstant &&
             handle_.ask(samples, handle_.nvml().power, "power", &milliwatts)) {
    power_reading_ = PowerReading::kUsage;
    series_.power(samples, milliwatts, "usage");
  }
  if (handle_.ask(samples, handle_.nvml().power_limit, "power limit", &milliwatts)) {
    series_.constant(samples, "gpu.power_limit", "mW", milliwatts);
  }
}

void NvidiaDevice::take_memory(Samples& samples) {
  // The newer call leaves out what the driver keeps for itself, as nvidia-smi does.
  NvmlMemory2 memory2{
      .version = sizeof(NvmlMemory2) | 2U << 24, .total = 0, .reserved = 0, .free = 0, .used = 0};
  NvmlMemory memory{};
  if (handle_.nvml().memory2 != nullptr &&
      handle_.ask(samples, handle_.nvml().memory2, "memory", &memory2)) {
    memory = {memory2.total, memory2.free, memory2.used};
  } else if (!handle_.ask(samples, handle_.nvml().memory, "memory (older call)", &memory)) {
    return;
  }
  series_.gauge(samples, "gpu.memory", "bytes", static_cast<std::int64_t>(memory.used));
  series_.constant(samples, "gpu.memory_total", "bytes", static_cast<std::int64_t>(memory.total));
}

void NvidiaDevice::take_state(Samples& samples) {
  NvmlUtilization rates{};
  if (handle_.ask(samples, handle_.nvml().utilization, "utilisation", &rates)) {
    series_.gauge(samples, "gpu.busy", "%", rates.gpu);
    series_.gauge(samples, "gpu.memory_busy", "%", rates.memory);
  }
  unsigned value = 0;
  if (handle_.ask(samples, handle_.nvml().clock, "clock", kSmClock, &value)) {
    series_.gauge(samples, "gpu.clock", "MHz", value);
  }
  if (handle_.ask(samples, handle_.nvml().clock, "memory clock", kMemoryClock, &value)) {
    series_.gauge(samples, "gpu.memory_clock", "MHz", value);
  }
  if (handle_.ask(samples, handle_.nvml().temperature, "temperature", 0, &value)) {
    series_.gauge(samples, "gpu.temperature", "C", value);
  }
  unsigned long long reasons = 0;
  if (handle_.ask(samples, handle_.nvml().clock_reasons, "reasons for lower clocks", &reasons)) {
    series_.gauge(samples, "gpu.clock_reasons", "bits", static_cast<std::int64_t>(reasons));
  }
}

void NvidiaDevice::take_processes(Samples& samples) {
  std::vector<NvmlProcess> processes(64);
  auto count = static_cast<unsigned>(processes.size());
  auto* const function = handle_.nvml().compute_processes;
  if (!handle_.ask(samples, function, "processes", &count, processes.data())) {
    if (count <= processes.size()) return;  // not for want of room
    processes.resize(std::size_t{count} * 2);
    count = static_cast<unsigned>(processes.size());
    if (!handle_.ask(samples, function, "processes", &count, processes.data())) return;
  }
  const std::shared_ptr<const JobView> job = job_->view();
  std::map<std::int64_t, std::int64_t> by_rank;
  for (const NvmlProcess& process :
       std::span(processes).first(std::min<std::size_t>(count, processes.size()))) {
    const auto rank = job->rank_of(static_cast<int>(process.pid));
    if (!rank) continue;
    std::int64_t& bytes = by_rank.try_emplace(*rank, 0).first->second;
    if (process.used_bytes == kNotKnown) bytes = -1;
    if (bytes >= 0) bytes += static_cast<std::int64_t>(process.used_bytes);
  }
  for (const auto& [rank, bytes] : by_rank) series_.used_by(samples, rank, bytes);
}

bool NvidiaDevice::ask(Samples& samples, const AskedAt& at) {
  std::int64_t before = clock_ns(CLOCK_THREAD_CPUTIME_ID);
  const auto in_turn = [&](Pace& pace, std::int64_t least_ns, bool at_the_end, auto&& take) {
    if (at.is_last ? !at_the_end && !pace.is_due(at.now_ns, at.interval_ns)
                   : !pace.is_due(at.now_ns, at.interval_ns) ||
                         pace.is_put_off(at.now_ns, at.is_overdrawn)) {
      return;
    }
    take();
    const std::int64_t after = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    pace.looked(at.now_ns, after - before, std::max(at.interval_ns, least_ns));
    before = after;
  };
  take_power(samples);  // always: energy is read off it
  before = clock_ns(CLOCK_THREAD_CPUTIME_ID);
  in_turn(state_, 0, true, [&] {
    take_memory(samples);
    take_state(samples);
  });
  in_turn(links_, 0, true, [&] { take_links(samples); });
  in_turn(processes_, kBetweenProcessesNs, false, [&] { take_processes(samples); });
  return !handle_.is_gone();
}

bool NvidiaEnergy::ask(Samples& samples, const AskedAt& at) {
  if (!at.is_last && at.now_ns < next_ns_) return true;
  next_ns_ = at.now_ns + kBetweenEnergyNs;
  unsigned long long millijoules = 0;
  if (!handle_.ask(samples, handle_.nvml().energy, "energy", &millijoules)) {
    return handle_.tells("energy");
  }
  if (handle_.took_ns() > kLongestAnswerNs) {
    samples.add_notice("nvml", "The energy counter of GPU " + handle_.label() +
                                   " took long to answer: such values are left out, and power is "
                                   "integrated instead.");
    next_ns_ = at.now_ns + handle_.took_ns() * Pace::kRest;
    return true;
  }
  series_.counter(samples, "gpu.energy", "mJ", static_cast<std::int64_t>(millijoules));
  return true;
}

}  // namespace stepscope::capture
