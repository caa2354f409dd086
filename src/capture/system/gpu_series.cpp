// The series of one GPU, and which GPUs a job may see.
#include "capture/system/gpu_series.h"

#include <algorithm>

#include "capture/system/text_file.h"

namespace stepscope::capture {

namespace {

std::vector<std::string_view> items_of(std::string_view list) {
  std::vector<std::string_view> items;
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    std::string_view item = list.substr(0, comma);
    items.push_back(next_word(item));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return items;
}

void add(GivenDevices& given, std::size_t device) {
  if (std::ranges::find(given.devices, device) == given.devices.end()) {
    given.devices.push_back(device);
  }
}

// As CUDA reads it: numbers or beginnings of a device's name; the first that is neither ends the
// list. Set and empty means no device.
GivenDevices as_listed(std::string_view list, std::span<const ListedDevice> listed) {
  GivenDevices given;
  for (const std::string_view item : items_of(list)) {
    if (item.starts_with("MIG-")) {
      given.parts.emplace_back(item);
      continue;
    }
    if (const auto number = whole_number(item)) {
      if (*number < 0) break;  // no device, on purpose
      if (*number >= static_cast<std::int64_t>(listed.size())) {
        given.unknown = item;
        break;
      }
      add(given, static_cast<std::size_t>(*number));
      continue;
    }
    const auto named = std::ranges::find_if(listed, [&](const ListedDevice& device) {
      return !item.empty() && device.uuid.starts_with(item);
    });
    if (named == listed.end()) {
      given.unknown = item;
      break;
    }
    add(given, static_cast<std::size_t>(named - listed.begin()));
  }
  return given;
}

GivenDevices everything(std::size_t count) {
  GivenDevices given;
  for (std::size_t i = 0; i < count; ++i) given.devices.push_back(i);
  given.all = true;
  return given;
}

// Slurm counts the devices of the node. Where it also hides the others, the driver lists fewer and
// their numbers in /dev tell which they are. Where those are not Slurm's, it shows as many as were
// given, or which they are is not known.
GivenDevices by_slurm(std::string_view list, std::span<const ListedDevice> listed) {
  GivenDevices given;
  const std::vector<std::int64_t> numbers = numbers_in(list);
  for (const std::int64_t number : numbers) {
    const auto found = std::ranges::find(listed, number, &ListedDevice::minor);
    if (found != listed.end()) {
      add(given, static_cast<std::size_t>(found - listed.begin()));
    } else if (given.unknown.empty()) {
      given.unknown = std::to_string(number);
    }
  }
  const bool is_numbered =
      std::ranges::any_of(listed, [](const ListedDevice& one) { return one.minor >= 0; });
  const bool is_all = !is_numbered || numbers.empty() || numbers.size() == listed.size();
  return given.devices.empty() && is_all ? everything(listed.size()) : given;
}

GivenDevices first_said(const Variables& variables, std::span<const std::string_view> names,
                        std::span<const ListedDevice> listed) {
  for (const std::string_view name : names) {
    if (const auto found = variables.find(std::string(name)); found != variables.end()) {
      GivenDevices given = as_listed(found->second, listed);
      given.variable = name;
      return given;
    }
  }
  for (const char* name : {"SLURM_STEP_GPUS", "SLURM_JOB_GPUS"}) {
    const auto found = variables.find(name);
    if (found != variables.end() && !found->second.empty()) {
      GivenDevices given = by_slurm(found->second, listed);
      given.variable = name;
      return given;
    }
  }
  return everything(listed.size());
}

}  // namespace

std::string GivenDevices::why_not(std::size_t listed) const {
  if (unknown.empty() || listed == 0) return {};
  const bool ends_list = !variable.starts_with("SLURM");
  return joined({"GPU ", unknown, " of ", variable, " is not measured: the driver shows ",
                 std::to_string(listed), ", and not that one.",
                 ends_list ? " What comes after it in the list is not used, either." : ""});
}

std::vector<std::int64_t> numbers_in(std::string_view list) {
  std::vector<std::int64_t> numbers;
  for (const std::string_view item : items_of(list)) {
    const std::size_t dash = std::min(item.find('-'), item.size());
    const auto first = whole_number(item.substr(0, dash));
    const auto last = dash == item.size() ? first : whole_number(item.substr(dash + 1));
    constexpr std::int64_t kMost = 4096;
    if (!first || !last || *last - *first > kMost) continue;
    for (std::int64_t number = *first; number <= *last; ++number) numbers.push_back(number);
  }
  return numbers;
}

GivenDevices nvidia_devices(const Variables& variables, std::span<const ListedDevice> listed) {
  constexpr std::string_view kNames[] = {"CUDA_VISIBLE_DEVICES"};
  return first_said(variables, kNames, listed);
}

// ROCm also heeds CUDA's variable.
GivenDevices amd_devices(const Variables& variables, std::span<const ListedDevice> listed) {
  constexpr std::string_view kNames[] = {"ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES",
                                         "GPU_DEVICE_ORDINAL", "CUDA_VISIBLE_DEVICES"};
  return first_said(variables, kNames, listed);
}

void GpuSeries::power(Samples& samples, std::int64_t milliwatts, std::string_view reading) {
  const auto [found, is_new] = series_.try_emplace("gpu.power");
  if (is_new) {
    wire::Fields about = about_;
    about.emplace_back("reading", reading);
    found->second = samples.define({.name = "gpu.power", .unit = "mW", .about = about});
  }
  samples.put(found->second, milliwatts);
}

void GpuSeries::given(Samples& samples, const JobProcess& process, std::size_t position,
                      std::size_t count) {
  const auto [found, is_new] = by_rank_.try_emplace({"gpu.given", process.rank});
  if (is_new) {
    wire::Fields about = about_;
    about.emplace_back("rank", std::to_string(process.rank));
    about.emplace_back("local_rank", std::to_string(process.local_rank));
    about.emplace_back("position", std::to_string(position));
    about.emplace_back("of", std::to_string(count));
    found->second = samples.define({.name = "gpu.given", .unit = "count", .about = about});
  }
  samples.put_if_new(found->second, 1);
}

void GpuSeries::used_by(Samples& samples, std::int64_t rank, std::int64_t bytes) {
  const auto put = [&](const char* name, const char* unit, std::int64_t value) {
    const auto [found, is_new] = by_rank_.try_emplace({name, rank});
    if (is_new) {
      wire::Fields about = about_;
      about.emplace_back("rank", std::to_string(rank));
      found->second = samples.define({.name = name, .unit = unit, .about = about});
    }
    samples.put(found->second, value);
  };
  put("gpu.processes", "count", 1);
  if (bytes >= 0) put("gpu.process_memory", "bytes", bytes);
}

}  // namespace stepscope::capture
