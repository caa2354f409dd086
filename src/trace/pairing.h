// Joins begin and end events into spans before anything is sorted. Only tools other than Kineto
// write them, so this costs nothing on an ordinary trace.
#pragma once

#include <span>

#include "base/strings.h"
#include "trace/stage.h"

namespace stepscope::trace {

// What a shard's ids mean in the trace as a whole.
struct ShardMap {
  std::vector<base::StringId> strings;
  std::vector<std::uint32_t> categories;
  std::vector<std::uint32_t> tracks;
  std::vector<SignatureId> signatures;
};

// Gives each begin its duration and marks its end as joined. Spans that never end last until
// `window_end`. Keeps the batches' row counts per track true.
void join_pairs(std::span<Batch> batches, std::span<const ShardMap> maps, base::Nanos window_end,
                base::ImportLog& log);

}  // namespace stepscope::trace
