// Sizes of memory as people write them.
#pragma once

#include <optional>
#include <string_view>

#include "base/units.h"

namespace stepscope::base {

// "8G", "1.5GiB", "500 MB", "1000": at least one byte. G and GiB are binary, GB is decimal, in any
// case of letters. Not set: not a size.
std::optional<Bytes> parse_size(std::string_view text);

}  // namespace stepscope::base
