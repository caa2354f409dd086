// The doors for those who may see one folder only (bytes/beneath.h). `within` has no links in its
// path; an empty one is no limit.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "bytes/source.h"

namespace stepscope::bytes {

// As open_source; what is opened again later (open_text) is held to the folder, too.
base::Result<std::unique_ptr<ByteSource>> open_source_within(const std::string& within,
                                                             const std::string& path,
                                                             SourceOptions options = {});

// All of a small file; nothing where it cannot be read.
std::optional<std::string> whole_file(const std::string& within, const std::string& path);

}  // namespace stepscope::bytes
