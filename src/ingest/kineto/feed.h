// Hands out the text of a file: as one growing string while the header is read, then in blocks that
// end between two events. The decompressed text is never held whole.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

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
  Block(std::unique_ptr<char[]> buffer, std::size_t capacity)
      : buffer_(std::move(buffer)), capacity_(capacity) {}

  char* begin() const;
  char* end() const { return begin() + size; }
  std::size_t capacity() const { return capacity_; }

  std::size_t size = 0;
  std::uint64_t text_offset = 0;
  bool ends = false;         // nothing follows
  std::uint32_t reader = 0;  // which thread read it last

 private:
  std::unique_ptr<char[]> buffer_;
  std::size_t capacity_ = 0;
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

  const bytes::ByteSource& source() const { return *source_; }
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
  std::mutex pool_mutex_;
  std::vector<Block> pool_;
};

}  // namespace stepscope::ingest::kineto
