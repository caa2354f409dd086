// Where a recording process said its parameters, gradients and optimizer state lie
// (docs/formats/addresses.md).
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "memory/snapshot.h"

namespace stepscope::ingest::memory_json {

// By address. Anything but lists of [address, bytes] is an error.
base::Result<std::vector<memory::KnownContent>> parse_addresses(std::string_view text);

}  // namespace stepscope::ingest::memory_json
