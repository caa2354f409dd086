// Memory snapshots of torch's caching allocator, as torch.cuda.memory._dump_snapshot and others
// write them. See docs/formats/memory-snapshot.md.
#pragma once

#include <memory>
#include <string_view>

#include "ingest/reading.h"
#include "memory/snapshot.h"

namespace stepscope::ingest::pickle {

int sniff(std::string_view first_bytes);
base::Result<memory::Snapshot> read(std::unique_ptr<bytes::ByteSource> source,
                                    const ReadOptions& options);

// What a pickle that is no snapshot seems to be, from its beginning: "a NCCL flight recorder dump".
// Empty when it may be a snapshot.
std::string reason_to_skip(std::string_view first_bytes);

}  // namespace stepscope::ingest::pickle
