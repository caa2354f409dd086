// Hands out the text of a file: as one growing string while the header is read, then in blocks that
// end between two events. The decompressed text is never held whole.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/pages.h"
#include "base/result.h"
#include "bytes/source.h"
#include "bytes/text_blocks.h"

namespace stepscope::ingest::kineto {

// No event and no header value is this long; text without an end would fill the memory.
inline constexpr std::size_t kLongestEvent = std::size_t{64} << 20;

// A piece of text with readable padding on both sides.
class Block {
 public:
  Block() = default;
  Block(base::Slice buffer, std::size_t capacity)
      : buffer_(std::move(buffer)), capacity_(capacity) {}

  char* begin() const;
  char* end() const { return begin() + size; }
  std::size_t capacity() const { return capacity_; }
  std::size_t room() const { return capacity_ - dropped_; }  // for text from begin() on
  // The text begins `count` bytes later.
  void drop_front(std::size_t count) {
    dropped_ += count;
    size -= count;
    text_offset += count;
  }
  void reset();  // for other text

  std::size_t size = 0;
  std::uint64_t text_offset = 0;
  bool ends = false;         // nothing follows
  bool cut = false;          // anywhere: no event begins in all of its length
  std::uint32_t reader = 0;  // which thread read it last

 private:
  base::Slice buffer_;
  std::size_t capacity_ = 0;
  std::size_t dropped_ = 0;
};

class TextFeed {
 public:
  TextFeed(std::unique_ptr<bytes::ByteSource> source, std::size_t block_bytes);

  // Adds the next piece of text to `text`; false at the end of the file.
  base::Result<bool> append_to(std::string& text);

  // Puts text back that was taken and not used; it comes first in the next block.
  void put_back(std::string text) { carry_ = std::move(text); }

  // The next block, cut before the last event that seems to begin in it. Nothing at the end.
  base::Result<std::optional<Block>> next_block(std::uint32_t reader);

  // A block of this capacity, used before if possible: fresh pages cost more than reading into
  // them. If possible one that the same thread read, and lately: it is still in its cache.
  Block take(std::size_t capacity, std::uint32_t reader);
  void recycle(Block block);
  // The same text with more room after it.
  void enlarge(Block& block, std::size_t capacity, std::uint32_t reader);

  // That an event which begins there has no end.
  base::Failure too_long(std::uint64_t text_offset) const;

  // Nothing more is wanted: an error if the file has changed while it was read.
  base::Status finish();

  // Reading goes on there; what was put back is forgotten.
  void skip_to(std::uint64_t text_offset);

  std::size_t block_bytes() const { return block_bytes_; }
  const bytes::ByteSource& source() const { return *source_; }
  // Of the text that comes next.
  std::uint64_t offset() const { return source_->text_position() - carry_.size(); }
  std::uint64_t text_read() const { return source_->text_position(); }
  std::shared_ptr<bytes::TextBlocks> kept() const { return kept_; }  // of a pipe

 private:
  base::Result<std::size_t> read(char* into, std::size_t size);

  std::unique_ptr<bytes::ByteSource> source_;
  std::size_t block_bytes_;
  std::string carry_;
  bool ended_ = false;
  bool gave_last_ = false;
  std::shared_ptr<bytes::TextBlocks> kept_;
  std::uint64_t kept_to_ = 0;  // reading may go back (skip_to)
  std::mutex pool_mutex_;
  base::Slab slab_;
  std::vector<Block> pool_;
};

}  // namespace stepscope::ingest::kineto
