// Merges what the lanes interned into the trace's own tables. Ids follow the order of first
// appearance in the file, so they do not depend on how many threads read it.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/strings.h"
#include "trace/pairing.h"
#include "trace/stage.h"
#include "trace/trace.h"

namespace stepscope::trace {

struct Names {
  base::StringTable strings;
  std::vector<base::StringId> categories;
  std::vector<Track> tracks;  // process and thread only
  std::vector<Signature> signatures;
  std::vector<LaneMap> maps;  // by lane
};

// With `only_used`, what no batch refers to is left out.
base::Result<Names> merge_names(std::span<const std::unique_ptr<Lane>> lanes,
                                std::span<const Batch> batches, bool only_used,
                                const std::function<std::string(std::string_view)>& decode,
                                const std::function<std::string(std::string_view)>& normalize);

}  // namespace stepscope::trace
