// Lists of numbers as people write them: "0,3,8-15".
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace stepscope::base {

// Nothing for what is no such list.
std::optional<std::vector<std::int64_t>> parse_number_list(std::string_view text);

}  // namespace stepscope::base
