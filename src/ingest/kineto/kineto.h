// PyTorch/Kineto traces and every other Chrome trace_event JSON. See docs/formats/kineto.md.
#pragma once

#include <memory>
#include <string_view>

#include "ingest/reading.h"

namespace stepscope::ingest::kineto {

int sniff(std::string_view first_bytes);
base::Result<trace::Trace> read(std::unique_ptr<bytes::ByteSource> source,
                                const ReadOptions& options);

}  // namespace stepscope::ingest::kineto
