// What a file says about itself beside its events.
#include "trace/header.h"

#include <algorithm>

namespace stepscope::trace {

bool is_listed(const Header& header, std::int64_t device) {
  return std::ranges::find(header.devices, device, &DeviceProperties::id) != header.devices.end();
}

const DeviceProperties* described(const Header& header, std::int64_t device) {
  const auto own = std::ranges::find(header.devices, device, &DeviceProperties::id);
  if (own != header.devices.end()) return &*own;
  if (header.devices.empty()) return nullptr;
  const DeviceProperties& first = header.devices.front();
  const bool alike = std::ranges::all_of(header.devices, [&](const DeviceProperties& other) {
    return other.name == first.name && other.memory_bytes == first.memory_bytes;
  });
  return alike && !first.name.empty() ? &first : nullptr;
}

}  // namespace stepscope::trace
