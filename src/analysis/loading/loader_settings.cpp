#include "analysis/loading/loader_settings.h"

#include <algorithm>

#include <fmt/format.h>

namespace stepscope::analysis {

std::optional<LoaderSetting> find_loader_setting(std::string_view name) {
  const auto* const found = std::ranges::find(kLoaderSettingInfos, name, &LoaderSettingInfo::name);
  if (found == kLoaderSettingInfos.end()) return std::nullopt;
  return static_cast<LoaderSetting>(found - kLoaderSettingInfos.begin());
}

std::string python_text(LoaderSetting setting, std::int64_t value) {
  if (info_of(setting).is_switch) return value != 0 ? "True" : "False";
  return fmt::format("{}", value);
}

std::string keywords_text(const LoaderSettings& settings) {
  std::string out;
  for (std::size_t i = 0; i < kLoaderSettings; ++i) {
    const auto setting = static_cast<LoaderSetting>(i);
    if (!settings[setting]) continue;
    out += fmt::format("{}{}={}", out.empty() ? "" : ", ", info_of(setting).name,
                       python_text(setting, *settings[setting]));
  }
  return out;
}

}  // namespace stepscope::analysis
