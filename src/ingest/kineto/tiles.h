// The text of a plain file in blocks that threads fetch at the same time, each without knowing how
// the block before it ends. The file is laid out in steps of one size; block n begins with the
// first event that seems to begin in step n, and ends where the next block begins. A step without
// one, inside a long event, gives an empty block. A block that would be longer than any event is
// cut: the list may be over in it, else it is an error.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "ingest/kineto/feed.h"

namespace stepscope::ingest::kineto {

class Tiles {
 public:
  // From where the feed stands. Its source must be one that reads_anywhere().
  explicit Tiles(TextFeed& feed);

  std::uint64_t count() const { return count_; }
  std::uint64_t text_size() const { return size_; }
  std::uint64_t begin_of(std::uint64_t number) const;

  base::Result<Block> fetch(std::uint64_t number, std::uint32_t reader) const;

 private:
  base::Status read_to(std::uint64_t text_offset, Block& block, std::uint32_t reader) const;
  base::Status end_at_next(std::uint64_t step, Block& block, std::uint32_t reader) const;
  std::uint64_t decided_to(const Block& block) const;
  const char* start_in(std::uint64_t step, const Block& block) const;

  TextFeed& feed_;
  std::uint64_t from_, step_, size_, origin_, count_;
};

}  // namespace stepscope::ingest::kineto
