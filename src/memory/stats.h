// What torch.cuda.memory_stats said: counters by name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/notes.h"
#include "memory/snapshot.h"

namespace stepscope::memory {

struct Stats {
  Source source;
  std::optional<std::int32_t> rank;
  // "allocated_bytes.all.peak"; nested dictionaries are flattened with dots. In file order.
  std::vector<std::pair<std::string, std::int64_t>> values;
  base::ImportLog log;

  std::optional<std::int64_t> find(std::string_view name) const {
    for (const auto& [key, value] : values) {
      if (key == name) return value;
    }
    return std::nullopt;
  }
};

}  // namespace stepscope::memory
