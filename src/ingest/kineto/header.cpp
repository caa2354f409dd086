// Reads the keys of a trace beside its event list: devices, ranks, base time.
#include "ingest/kineto/header.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>

#include "ingest/kineto/numbers.h"

namespace stepscope::ingest::kineto {
namespace {

using Json = nlohmann::json;

// A whole number, also one that is written as text.
std::optional<std::int64_t> whole(const Json& value) {
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (value.is_number_float()) return parse_integer(value.dump());
  if (value.is_string()) return parse_integer(value.get_ref<const std::string&>());
  return std::nullopt;
}

std::optional<std::int64_t> whole(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() ? std::nullopt : whole(*found);
}

std::int64_t integer(const Json& object, const char* key, std::int64_t otherwise = 0) {
  return whole(object, key).value_or(otherwise);
}

std::string text(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return {};
  return found->is_string() ? found->get<std::string>() : found->dump();
}

// Nothing in a header is nested like this; printing it would exhaust the stack.
constexpr std::size_t kDeepest = 200;

std::size_t depth_of(std::string_view value) {
  std::size_t depth = 0;
  std::size_t deepest = 0;
  for (const char c : value) {
    if (c == '[' || c == '{') deepest = std::max(deepest, ++depth);
    if ((c == ']' || c == '}') && depth > 0) --depth;
  }
  return deepest;
}

trace::DeviceProperties device_of(const Json& object) {
  trace::DeviceProperties device;
  device.id = integer(object, "id");
  device.name = text(object, "name");
  device.memory_bytes = integer(object, "totalGlobalMem");
  device.compute_major = integer(object, "computeMajor");
  device.compute_minor = integer(object, "computeMinor");
  device.multiprocessors = integer(object, "numSms", integer(object, "maxComputeUnits"));
  device.warp_size = integer(object, "warpSize");
  device.max_threads_per_multiprocessor = integer(object, "maxThreadsPerMultiprocessor");
  device.registers_per_multiprocessor = integer(object, "regsPerMultiprocessor");
  device.shared_memory_per_multiprocessor = integer(
      object, "sharedMemPerMultiprocessor", integer(object, "maxSharedMemoryPerMultiProcessor"));
  return device;
}

// A list, or, from on-demand tracing, a string that holds one and may be cut: "[0, 1, ...]".
std::vector<std::int64_t> ranks_of(const Json& value) {
  std::vector<std::int64_t> ranks;
  if (value.is_array()) {
    for (const Json& rank : value) {
      if (const auto number = whole(rank)) ranks.push_back(*number);
    }
    return ranks;
  }
  if (!value.is_string()) return ranks;
  const std::string& list = value.get_ref<const std::string&>();
  const char* at = list.data();
  const char* const end = at + list.size();
  while (at < end) {
    std::int64_t rank = 0;
    const auto [next, error] = std::from_chars(at, end, rank);
    if (error == std::errc()) {
      ranks.push_back(rank);
      at = next;
    } else {
      ++at;
    }
  }
  return ranks;
}

trace::Distributed distributed_of(const Json& object) {
  trace::Distributed out;
  out.backend = text(object, "backend");
  out.nccl_version = text(object, "nccl_version");
  out.rank = whole(object, "rank");
  out.world_size = whole(object, "world_size");
  const auto groups = object.find("pg_config");
  if (groups == object.end() || !groups->is_array()) return out;
  for (const Json& group : *groups) {
    if (!group.is_object()) continue;
    trace::ProcessGroup& to = out.groups.emplace_back();
    to.name = text(group, "pg_name");
    to.description = text(group, "pg_desc");
    to.backend = text(group, "backend_config");
    to.size = integer(group, "pg_size");
    if (const auto ranks = group.find("ranks"); ranks != group.end()) to.ranks = ranks_of(*ranks);
  }
  return out;
}

}  // namespace

bool HeaderBuilder::take(const std::string& name, std::string_view value) {
  if (depth_of(value) > kDeepest) return false;
  Json json = Json::parse(value.begin(), value.end(), nullptr, false);
  std::string mended;
  if (json.is_discarded()) {
    mended = mend(value);
    json = Json::parse(mended, nullptr, false);
    if (json.is_discarded()) return false;
    value = mended;
  }
  if (name == "baseTimeNanoseconds") {
    header_.base_time_ns = whole(json);
  } else if (name == "schemaVersion") {
    header_.schema_version = whole(json);
  } else if (name == "deviceProperties" && json.is_array()) {
    for (const Json& device : json) {
      if (device.is_object()) header_.devices.push_back(device_of(device));
    }
  } else if (name == "distributedInfo" && json.is_object()) {
    header_.distributed = distributed_of(json);
  } else if ((name == "host_name" || name == "hostname") && json.is_string()) {
    header_.host = json.get<std::string>();
  } else if (name == "traceName" && json.is_string()) {
    header_.trace_name = json.get<std::string>();
  } else if (name == "stepscope") {
    header_.cut_step = json.is_object() ? whole(json, "cut_step") : std::nullopt;
  }
  keep(name, value);
  return true;
}

// Of equal names the last counts, in the place of the first.
void HeaderBuilder::keep(const std::string& name, std::string_view value) {
  const auto [known, is_new] = places_.try_emplace(name, header_.metadata.size());
  if (is_new) {
    header_.metadata.emplace_back(name, std::string(value));
  } else {
    header_.metadata[known->second].second = std::string(value);
  }
}

}  // namespace stepscope::ingest::kineto
