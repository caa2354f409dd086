// Merges what the shards interned into the trace's own tables. Ids follow the order of first
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
  std::vector<Signature> signatures;
};

// When each id of a shard is first named by what became of the file, counted over all shards.
// Needed where shards also interned what was in text that was read wrongly: what nothing names is
// left out.
struct FirstNamed {
  std::vector<std::uint64_t> strings, categories, tracks, signatures;
};
std::vector<FirstNamed> first_named(std::span<const std::unique_ptr<Shard>> shards,
                                    std::span<const Batch> batches);

using Decode = std::function<std::string(std::string_view)>;

// `named` is empty where all that the shards saw counts. The maps, one for each shard,
// are given what its ids mean in the trace.
//
// Process and thread of each track: all that the order of the events needs.
std::vector<Track> merge_tracks(std::span<const std::unique_ptr<Shard>> shards,
                                std::span<const FirstNamed> named, const Decode& decode,
                                std::span<ShardMap> maps);

// All the rest. Fails where there are more categories than ids can count.
base::Result<Names> merge_names(std::span<const std::unique_ptr<Shard>> shards,
                                std::span<const FirstNamed> named, const Decode& decode,
                                const Decode& normalize, std::span<ShardMap> maps);

}  // namespace stepscope::trace
