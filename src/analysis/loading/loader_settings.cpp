// Finds settings of a DataLoader by name.
#include "analysis/loading/loader_settings.h"

#include <algorithm>

namespace stepscope::analysis {

std::optional<LoaderSetting> find_loader_setting(std::string_view name) {
  const auto* const found = std::ranges::find(kLoaderSettingInfos, name, &LoaderSettingInfo::name);
  if (found == kLoaderSettingInfos.end()) return std::nullopt;
  return static_cast<LoaderSetting>(found - kLoaderSettingInfos.begin());
}

}  // namespace stepscope::analysis
