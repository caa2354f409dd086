// Files that people hand over by mistake: archives, other compressions, pages, pointers. The first
// bytes tell what they are, and what to do about it says more than where JSON was expected.
#pragma once

#include <string>
#include <string_view>

#include "bytes/source.h"

namespace stepscope::ingest {

// "a zip archive: unpack it first"; empty when the text may be something that is read.
std::string other_file(std::string_view first_bytes);

// Why there is nothing to read in a text that consists of these bytes, or begins with them, where
// the source says more than they do: empty, zero bytes, compression that is cut. Empty: read it.
std::string nothing_to_read(std::string_view first_bytes, const bytes::ByteSource& source);

}  // namespace stepscope::ingest
