// Text of a file in blocks that end between two events.
#include "ingest/kineto/feed.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "ingest/kineto/event_starts.h"
#include "ingest/kineto/fast.h"

namespace stepscope::ingest::kineto {
namespace {

// What is read first of a file: nearly always all that stands before its events.
constexpr std::size_t kHeaderBytes = std::size_t{16} << 10;

}  // namespace

char* Block::begin() const { return reinterpret_cast<char*>(buffer_.data()) + kPadding + dropped_; }

void Block::reset() {
  size = dropped_ = 0;
  ends = cut = false;
}

TextFeed::TextFeed(std::unique_ptr<bytes::ByteSource> source, std::size_t block_bytes)
    : source_(std::move(source)), block_bytes_(std::max<std::size_t>(block_bytes, 64)) {
  if (!source_->rereadable()) kept_ = std::make_shared<bytes::TextBlocks>();
}

base::Result<std::size_t> TextFeed::read(char* into, std::size_t size) {
  std::size_t filled = 0;
  while (filled < size && !ended_) {
    const std::uint64_t offset = source_->text_position();
    SCOPE_TRY(const std::size_t got, source_->read({into + filled, size - filled}));
    ended_ = got == 0;
    if (kept_ != nullptr && offset + got > kept_to_) {
      const std::size_t known = kept_to_ > offset ? kept_to_ - offset : 0;
      SCOPE_TRY(kept_->append(offset + known, {into + filled + known, got - known}));
      kept_to_ = offset + got;
    }
    filled += got;
  }
  return filled;
}

base::Result<bool> TextFeed::append_to(std::string& text) {
  if (!carry_.empty()) {
    text += carry_;
    carry_.clear();
    return true;
  }
  const std::size_t before = text.size();
  const std::size_t wanted = std::min(std::max(before, kHeaderBytes), block_bytes_);
  text.resize(before + wanted);
  SCOPE_TRY(const std::size_t got, read(text.data() + before, wanted));
  text.resize(before + got);
  return got != 0;
}

base::Result<std::optional<Block>> TextFeed::next_block(std::uint32_t reader) {
  if (gave_last_) return std::optional<Block>{};
  Block block = take(carry_.size() + block_bytes_, reader);
  block.text_offset = offset();
  std::memcpy(block.begin(), carry_.data(), carry_.size());
  block.size = carry_.size();
  carry_.clear();
  while (true) {
    SCOPE_TRY(const std::size_t got, read(block.end(), block.capacity() - block.size));
    block.size += got;
    if (ended_) {
      block.ends = gave_last_ = true;
      break;
    }
    const char* cut = last_event_start(block.begin(), block.end(), Start::kKnown);
    if (cut == nullptr && block.size >= 2 * block_bytes_) {
      cut = last_event_start(block.begin(), block.end(), Start::kAny);
    }
    if (cut != nullptr) {
      carry_.assign(cut, static_cast<std::size_t>(block.end() - cut));
      block.size = static_cast<std::size_t>(cut - block.begin());
      break;
    }
    if (block.size >= kLongestEvent) {
      block.cut = true;
      break;
    }
    enlarge(block, std::min(2 * block.size, kLongestEvent + block_bytes_), reader);
  }
  std::memset(block.end(), 0, kPadding);
  return std::optional<Block>(std::move(block));
}

base::Failure TextFeed::too_long(std::uint64_t text_offset) const {
  return base::fail(base::Code::kLimit,
                    fmt::format("{}:{}: no event ends within {} MiB; expected the end of an event",
                                source_->name(), text_offset, kLongestEvent >> 20));
}

base::Status TextFeed::finish() {
  if (ended_ || !source_->reads_anywhere()) return base::Done{};
  skip_to(source_->file_size().value_or(0));
  char after = 0;
  SCOPE_TRY(source_->read({&after, 1}));
  return base::Done{};
}

void TextFeed::skip_to(std::uint64_t text_offset) {
  carry_.clear();
  ended_ = false;  // all may have been read already, to find the list
  source_->skip_to(text_offset);
}

Block TextFeed::take(std::size_t capacity, std::uint32_t reader) {
  const std::lock_guard lock(pool_mutex_);
  auto best = pool_.end();
  for (auto at = pool_.begin(); at != pool_.end(); ++at) {  // the last is the latest
    if (at->capacity() < capacity) continue;
    if (best == pool_.end() || best->reader != reader || at->reader == reader) best = at;
  }
  if (best != pool_.end()) {
    Block block = std::move(*best);
    pool_.erase(best);
    block.reset();
    return block;
  }
  // Room for a carry of ordinary size, so that one block can serve as the next.
  const std::size_t roomy = capacity + capacity / 8;
  return {slab_.take(roomy + 2 * kPadding), roomy};
}

void TextFeed::enlarge(Block& block, std::size_t capacity, std::uint32_t reader) {
  Block larger = take(capacity, reader);
  std::memcpy(larger.begin(), block.begin(), block.size);
  larger.size = block.size;
  larger.text_offset = block.text_offset;
  block = std::move(larger);
}

void TextFeed::recycle(Block block) {
  // Blocks that had to grow for one long event are not worth keeping.
  if (block.capacity() == 0 || block.capacity() > 4 * block_bytes_) return;
  const std::lock_guard lock(pool_mutex_);
  pool_.push_back(std::move(block));
}

}  // namespace stepscope::ingest::kineto
