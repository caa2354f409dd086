// Reads devices, versions and settings out of the headers of files.
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include <fmt/format.h>

#include "base/number_text.h"
#include "report/info/info_parts.h"

namespace stepscope::report {
namespace {

// A JSON value as text: a string without its quotes, anything else as it stands.
std::string_view unquoted(std::string_view json) {
  if (json.size() >= 2 && json.front() == '"' && json.back() == '"') {
    return json.substr(1, json.size() - 2);
  }
  return json;
}

std::optional<std::int64_t> whole_number(std::string_view json) {
  return base::parse_number<std::int64_t>(unquoted(json));
}

std::string as_written(std::string_view json) { return std::string(unquoted(json)); }

struct VersionKey {
  std::string_view key, name;
  std::string (*text)(std::string_view json);
};

constexpr std::array kVersions = std::to_array<VersionKey>({
    {"torch_version", "torch", as_written},
    {"pytorch_version", "torch", as_written},
    {"cuda_runtime_version", "CUDA", cuda_version_text},
    {"cuda_driver_version", "CUDA driver", cuda_version_text},
    {"cupti_version", "CUPTI", cupti_version_text},
    {"hip_runtime_version", "HIP", hip_version_text},
    {"hip_driver_version", "HIP driver", hip_version_text},
    {"roctracer_version", "roctracer", as_written},
    {"rocprofiler_version", "rocprofiler", as_written},
});

constexpr std::string_view kNccl = "NCCL";  // of distributedInfo; stands after the others

struct InfoSetting {
  std::string_view key, name;
};

constexpr std::array kInfoSettings = std::to_array<InfoSetting>({
    {"record_shapes", "shapes"},
    {"profile_memory", "memory"},
    {"with_stack", "stacks"},
    {"with_modules", "modules"},
    {"with_flops", "flops"},
});

const std::string* find(const trace::Header& header, std::string_view key) {
  for (const auto& [name, json] : header.metadata) {
    if (name == key) return &json;
  }
  return nullptr;
}

void add_once(std::vector<NamedText>& versions, std::string_view name, std::string text) {
  if (text.empty()) return;
  const bool known = std::ranges::any_of(
      versions, [&](const NamedText& row) { return row.name == name && row.text == text; });
  if (!known) versions.push_back({std::string(name), std::move(text)});
}

}  // namespace

std::string cuda_version_text(std::string_view json) {
  const auto number = whole_number(json);
  if (!number) return as_written(json);
  if (*number <= 0) return {};  // not there
  return fmt::format("{}.{}", *number / 1000, *number % 1000 / 10);
}

std::string hip_version_text(std::string_view json) {
  const auto number = whole_number(json);
  if (!number) return as_written(json);
  if (*number <= 0) return {};
  if (*number < 1'000'000) return std::to_string(*number);  // before HIP 4.2: no known order
  return fmt::format("{}.{}.{}", *number / 10'000'000, *number / 100'000 % 100, *number % 100'000);
}

std::string cupti_version_text(std::string_view json) {
  const auto number = whole_number(json);
  if (!number) return as_written(json);
  if (*number <= 0) return {};
  if (*number < 100'000) return fmt::format("API {}", *number);  // counted up until CUDA 12
  return fmt::format("{}.{}.{}", *number / 10'000, *number / 100 % 100, *number % 100);
}

bool lists_devices(const trace::Header& header) {
  return find(header, "deviceProperties") != nullptr;
}

void add_devices(const trace::Header& header, std::vector<DeviceInfo>& devices) {
  std::vector<DeviceInfo> here;
  const auto same = [](const DeviceInfo& a, const DeviceInfo& b) {
    return a.name == b.name && a.memory_bytes == b.memory_bytes &&
           a.compute_major == b.compute_major && a.compute_minor == b.compute_minor &&
           a.multiprocessors == b.multiprocessors && a.warp_size == b.warp_size;
  };
  const auto find_in = [&](std::vector<DeviceInfo>& list, const DeviceInfo& wanted) {
    return std::ranges::find_if(list, [&](const DeviceInfo& d) { return same(d, wanted); });
  };
  for (const trace::DeviceProperties& device : header.devices) {
    DeviceInfo info{
        .name = device.name,
        .memory_bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(0, device.memory_bytes)),
        .compute_major = device.compute_major,
        .compute_minor = device.compute_minor,
        .multiprocessors = device.multiprocessors,
        .warp_size = device.warp_size,
        .visible = 1};
    const auto found = find_in(here, info);
    if (found == here.end()) {
      here.push_back(std::move(info));
    } else {
      ++found->visible;
    }
  }
  for (DeviceInfo& info : here) {
    const auto found = find_in(devices, info);
    if (found == devices.end()) {
      devices.push_back(std::move(info));
    } else {
      found->visible = std::max(found->visible, info.visible);
    }
  }
}

void add_versions(const trace::Header& header, std::vector<NamedText>& versions) {
  for (const VersionKey& version : kVersions) {
    if (const std::string* json = find(header, version.key)) {
      add_once(versions, version.name, version.text(*json));
    }
  }
  if (header.distributed) add_once(versions, kNccl, header.distributed->nccl_version);
  const auto place = [](const NamedText& version) {
    const auto* known = std::ranges::find(kVersions, version.name, &VersionKey::name);
    return known - kVersions.begin();
  };
  std::ranges::stable_sort(versions, {}, place);
}

void add_settings(const trace::Header& header, std::vector<std::string>& settings) {
  for (const InfoSetting& setting : kInfoSettings) {
    const std::string* json = find(header, setting.key);
    if (json == nullptr || *json == "0" || *json == "false") continue;
    if (std::ranges::find(settings, setting.name) == settings.end()) {
      settings.emplace_back(setting.name);
    }
  }
}

}  // namespace stepscope::report
