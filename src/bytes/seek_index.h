// Places in a file from which its text can be read on, noted while it was read for the first time,
// and what the file was then. Shared and immutable once the first pass is done.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bytes/raw_file.h"
#include "bytes/source.h"

namespace stepscope::bytes {

struct Checkpoint {
  std::uint64_t text_offset;
  std::uint64_t file_offset;
  std::string decoder;  // the decompressor's memory; empty where a member or frame starts
};

struct SeekIndex {
  Encoding encoding = Encoding::kPlain;
  FileFacts file{};
  std::string within = {};  // where it must lie when it is opened again; empty: anywhere
  std::vector<Checkpoint> checkpoints;  // ascending, the first at 0; none for plain text

  std::size_t memory_bytes() const;
  // The last one at or before the offset; checkpoints must not be empty.
  const Checkpoint& before(std::uint64_t text_offset) const;
};

}  // namespace stepscope::bytes
