// What was sampled of a machine (docs/formats/scope.md): the same file as a recording, other
// blocks.
#pragma once

#include <memory>
#include <string_view>

#include "ingest/reading.h"
#include "series/node.h"

namespace stepscope::ingest::system {

// Whether a recording that begins so is of a node.
bool is_of_node(std::string_view first_bytes);
int sniff(std::string_view first_bytes);

base::Result<series::Node> read(std::unique_ptr<bytes::ByteSource> source,
                                const ReadOptions& options);

}  // namespace stepscope::ingest::system
