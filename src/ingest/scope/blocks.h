// A recording as its blocks: what every reader of such a file begins with.
#pragma once

#include <functional>

#include "ingest/reading.h"
#include "wire/reader.h"

namespace stepscope::ingest::scope {

// Calls take(block) for each whole block. What was skipped is in the reader.
base::Status for_each_block(bytes::ByteSource& source, const ReadOptions& options,
                            wire::BlockReader& blocks,
                            const std::function<void(const wire::BlockView&)>& take);

// Notes what belongs to no whole block.
void note_damage(const wire::BlockReader& blocks, std::uint64_t end, base::ImportLog& log);

}  // namespace stepscope::ingest::scope
