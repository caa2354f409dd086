// What a process recorded of itself: ranges, steps, counters, log lines (docs/formats/scope.md).
#pragma once

#include <memory>
#include <string_view>

#include "ingest/reading.h"
#include "trace/trace.h"

namespace stepscope::ingest::scope {

int sniff(std::string_view first_bytes);

// Ranges and steps become annotations of their thread or task, log lines instants.
base::Result<trace::Trace> read(std::unique_ptr<bytes::ByteSource> source,
                                const ReadOptions& options);

}  // namespace stepscope::ingest::scope
