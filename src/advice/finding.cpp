// The names of levels, confidences and frameworks.
#include "advice/finding.h"

#include <array>

namespace stepscope::advice {

std::string_view name_of(Level level) {
  static constexpr std::array<std::string_view, 4> kNames = {"info", "notice", "warning",
                                                             "critical"};
  return kNames[static_cast<std::size_t>(level)];
}

std::string_view name_of(Confidence confidence) {
  static constexpr std::array<std::string_view, 3> kNames = {"low", "medium", "high"};
  return kNames[static_cast<std::size_t>(confidence)];
}

std::string_view name_of(Framework framework) {
  static constexpr std::array<std::string_view, 3> kNames = {"pytorch", "lightning", "huggingface"};
  return kNames[static_cast<std::size_t>(framework)];
}

}  // namespace stepscope::advice
