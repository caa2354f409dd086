// Text that was read once, at any offset again: for the parts of an event that were not parsed the
// first time. Cheapest when offsets ascend.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"
#include "bytes/source.h"

namespace stepscope::bytes {

class TextReader {
 public:
  virtual ~TextReader() = default;

  // Offsets count decompressed bytes. Short only at the end of the text; 0 at or after it.
  virtual base::Result<std::size_t> read_at(std::uint64_t text_offset, std::span<char> into) = 0;
};

// Opens a file that a ByteSource has read to its end, with that source's seek_index(). Reading
// fails when the file is no longer the one that was read.
base::Result<std::unique_ptr<TextReader>> open_text(const std::string& path, Encoding encoding,
                                                    std::shared_ptr<const SeekIndex> index);

}  // namespace stepscope::bytes
