// Sizes of memory as people write them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/units.h"

namespace stepscope::base {

// "8G", "1.5GiB", "500 MB", "1000": at least one byte. G and GiB are binary, GB is decimal, in any
// case of letters. Not set: not a size.
std::optional<Bytes> parse_size(std::string_view text);

// "80GiB" for "80": a bare number below 1 MiB, where the memory of a machine or of a device is
// asked for, has lost its unit. Empty: it has not.
std::string unit_forgotten(std::string_view text);

}  // namespace stepscope::base
