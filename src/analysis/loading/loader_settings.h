// How a torch DataLoader is set, as far as that decides how fast it is.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace stepscope::analysis {

enum class LoaderSetting : std::uint8_t {
  kNumWorkers,
  kBatchSize,
  kPinMemory,
  kNonBlocking,  // of copies to a device: no property of the loader, but tried with it
  kPrefetchFactor,
  kPersistentWorkers,
  kDropLast,
};
inline constexpr std::size_t kLoaderSettings = 7;

struct LoaderSettingInfo {
  std::string_view name;  // as Python has it
  bool is_switch = false;
};
inline constexpr std::array<LoaderSettingInfo, kLoaderSettings> kLoaderSettingInfos = {{
    {"num_workers"},
    {"batch_size"},
    {"pin_memory", true},
    {"non_blocking", true},
    {"prefetch_factor"},
    {"persistent_workers", true},
    {"drop_last", true},
}};
inline constexpr const LoaderSettingInfo& info_of(LoaderSetting setting) {
  return kLoaderSettingInfos[static_cast<std::size_t>(setting)];
}
std::optional<LoaderSetting> find_loader_setting(std::string_view name);

// One value of each. Nothing: not known, or it does not apply. Switches are 0 and 1.
class LoaderSettings {
 public:
  std::optional<std::int64_t>& operator[](LoaderSetting setting) {
    return values_[static_cast<std::size_t>(setting)];
  }
  const std::optional<std::int64_t>& operator[](LoaderSetting setting) const {
    return values_[static_cast<std::size_t>(setting)];
  }
  std::int64_t workers() const { return (*this)[LoaderSetting::kNumWorkers].value_or(0); }

 private:
  std::array<std::optional<std::int64_t>, kLoaderSettings> values_ = {};
};

}  // namespace stepscope::analysis
