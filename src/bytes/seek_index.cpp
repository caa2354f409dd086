// Finds the place in a packed file from which its text can be read on.
#include "bytes/seek_index.h"

#include <algorithm>
#include <iterator>

namespace stepscope::bytes {

std::size_t SeekIndex::memory_bytes() const {
  std::size_t bytes = sizeof(*this) + checkpoints.capacity() * sizeof(Checkpoint);
  for (const Checkpoint& checkpoint : checkpoints) bytes += checkpoint.decoder.capacity();
  return bytes;
}

const Checkpoint& SeekIndex::before(std::uint64_t text_offset) const {
  const auto after = std::upper_bound(
      checkpoints.begin(), checkpoints.end(), text_offset,
      [](std::uint64_t offset, const Checkpoint& c) { return offset < c.text_offset; });
  return *std::prev(after);
}

}  // namespace stepscope::bytes
