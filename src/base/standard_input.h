// What the path "-" is called where people read it; in data it stays "-".
#pragma once

#include <string_view>

namespace stepscope::base {

inline constexpr std::string_view kStandardInput = "standard input";

inline std::string_view name_of_input(std::string_view path) {
  return path == "-" ? kStandardInput : path;
}

}  // namespace stepscope::base
