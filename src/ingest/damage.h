// What is reported of a file that could not be unpacked as it was packed.
#pragma once

#include <string>

#include "base/notes.h"
#include "bytes/source.h"

namespace stepscope::ingest {

// "gzip stream ends in the middle of a block (byte 100 of the file)"; empty: it is whole so far.
std::string damage_text(const bytes::ByteSource& source);
void note_damage(const bytes::ByteSource& source, base::ImportLog& log);

}  // namespace stepscope::ingest
