// What other settings of the allocator would have done with the recorded requests. Only where the
// rules reproduce the record under its own settings.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/memory/simulated/simulated.h"
#include "analysis/memory/snapshot_work.h"

namespace stepscope::analysis {

enum class Fits : std::uint8_t { kYes, kPerhaps, kNo };
std::string_view name_of(Fits fits);  // "yes", "perhaps", "no"

struct SettingForecast {
  std::string setting;  // as PYTORCH_CUDA_ALLOC_CONF takes it
  Simulated result;
  std::uint64_t ooms_served_surely = 0;  // with no more memory than the allocator once had
};

struct Forecasts {
  Reproduction reproduction;
  std::optional<Limit> limit;  // what the driver gave, as far as the record tells
  base::Bytes least_possible = 0;
  std::vector<SettingForecast> list;  // empty where the record was not reproduced
};

// The size of the device, where known, is the limit where the record tells none. Without a need for
// it the forecasts are made once, however many ask.
std::shared_ptr<const Forecasts> forecasts(const HistoryWork& work,
                                           std::optional<base::Bytes> device_bytes,
                                           unsigned threads);

// The settings in force, short: only what differs from torch's own.
std::string settings_text(const allocator::Rules& rules);

}  // namespace stepscope::analysis
