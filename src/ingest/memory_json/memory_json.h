// Two small JSON files about memory: what export_memory_timeline writes (curves, or raw changes)
// and torch.cuda.memory_stats dumped as JSON. See docs/formats/memory-json.md.
#pragma once

#include <memory>
#include <string_view>

#include "ingest/reading.h"
#include "memory/stats.h"
#include "memory/timeline.h"

namespace stepscope::ingest::memory_json {

int sniff_timeline(std::string_view first_bytes);
base::Result<memory::Timeline> read_timeline(std::unique_ptr<bytes::ByteSource> source,
                                             const ReadOptions& options);

int sniff_stats(std::string_view first_bytes);
base::Result<memory::Stats> read_stats(std::unique_ptr<bytes::ByteSource> source,
                                       const ReadOptions& options);

}  // namespace stepscope::ingest::memory_json
