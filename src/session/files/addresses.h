// What a recording process wrote down beside its snapshot: memory-0-addresses.json says where
// the parameters, gradients and optimizer state of memory-0.pickle lie (docs/formats/addresses.md).
#pragma once

#include <string>
#include <string_view>

#include "memory/snapshot.h"

namespace stepscope::session {

// "memory-0-addresses.json" for "memory-0.pickle" and "memory-0.pickle.gz"; empty for "-".
std::string addresses_beside(std::string_view snapshot_path);

// Takes the file beside the snapshot where there is one; one that cannot be used is noted.
void add_known_addresses(const std::string& snapshot_path, memory::Snapshot& snapshot,
                         const std::string& within = {});

}  // namespace stepscope::session
