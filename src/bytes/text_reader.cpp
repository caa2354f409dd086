// Reads the text of a file again, at any offset.
#include "bytes/text_reader.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bytes/decoder.h"
#include "bytes/input_window.h"
#include "bytes/raw_file.h"
#include "bytes/seek_index.h"

namespace stepscope::bytes {

using base::Code;
using base::fail;
using base::Result;
using base::Status;

namespace {

constexpr std::size_t kInputWindow = 64 * 1024;
constexpr std::size_t kTextBlock = 256 * 1024;

class PlainText final : public TextReader {
 public:
  PlainText(RawFile file, std::shared_ptr<const SeekIndex> index)
      : file_(std::move(file)), index_(std::move(index)) {}

  Result<std::size_t> read_at(std::uint64_t text_offset, std::span<char> into) override {
    std::size_t filled = 0;
    while (filled < into.size()) {
      SCOPE_TRY(const std::size_t got, file_.read_at(text_offset + filled, into.subspan(filled)));
      if (got == 0) break;
      filled += got;
    }
    // After reading: what was read before a change is right, and this sees every later one.
    SCOPE_TRY([[maybe_unused]] const base::Done same, file_.check_same_as(index_->file));
    return filled;
  }

 private:
  RawFile file_;
  std::shared_ptr<const SeekIndex> index_;
};

// Inflates a block of text at a time and keeps the last one: events that lie side by side cost one
// copy each.
class CompressedText final : public TextReader {
 public:
  CompressedText(RawFile file, Encoding encoding, std::shared_ptr<const SeekIndex> index)
      : window_(std::move(file), kInputWindow),
        decoder_(encoding),
        index_(std::move(index)),
        block_(kTextBlock) {}

  Result<std::size_t> read_at(std::uint64_t text_offset, std::span<char> into) override {
    std::size_t filled = 0;
    while (filled < into.size()) {
      const std::uint64_t wanted = text_offset + filled;
      SCOPE_TRY(const bool there, go_to(wanted));
      if (!there) break;
      const auto from = static_cast<std::size_t>(wanted - block_start_);
      const std::size_t count = std::min(into.size() - filled, block_size_ - from);
      std::copy_n(block_.data() + from, count, into.data() + filled);
      filled += count;
    }
    return filled;
  }

 private:
  std::uint64_t block_end() const { return block_start_ + block_size_; }

  // Makes the block hold that byte; false when the text ends before it.
  Result<bool> go_to(std::uint64_t text_offset) {
    if (text_offset >= block_start_ && text_offset < block_end()) return true;
    const Checkpoint& nearest = index_->before(text_offset);
    if (text_offset < block_start_ || nearest.text_offset > block_end()) {
      decoder_.restore(nearest, window_);
      block_start_ = nearest.text_offset;
      block_size_ = 0;
    }
    while (text_offset >= block_end()) {
      SCOPE_TRY(const bool more, next_block());
      if (!more) return false;
    }
    return true;
  }

  Result<bool> next_block() {
    block_start_ = block_end();
    block_size_ = 0;
    // Filled up: a decompressor that is asked for a little at a time is slow.
    while (block_size_ < block_.size()) {
      SCOPE_TRY(const std::size_t got,
                decoder_.read(window_, std::span(block_).subspan(block_size_)));
      if (got == 0) break;
      block_size_ += got;
    }
    SCOPE_TRY([[maybe_unused]] const base::Done same, window_.file().check_same_as(index_->file));
    return block_size_ > 0;
  }

  InputWindow window_;
  Decoder decoder_;
  std::shared_ptr<const SeekIndex> index_;
  std::vector<char> block_;
  std::uint64_t block_start_ = 0;
  std::size_t block_size_ = 0;
};

}  // namespace

Result<std::unique_ptr<TextReader>> open_text(const std::string& path, Encoding encoding,
                                              std::shared_ptr<const SeekIndex> index) {
  if (!index || index->encoding != encoding || path == "-") {
    return fail(
        Code::kInvalidArgument,
        fmt::format("{}: cannot be read again without the index of its first reading", path));
  }
  SCOPE_TRY(RawFile file, RawFile::open(path, nullptr, index->within));
  SCOPE_TRY([[maybe_unused]] const base::Done same, file.check_same_as(index->file));
  std::unique_ptr<TextReader> reader;
  if (encoding == Encoding::kPlain) {
    reader = std::make_unique<PlainText>(std::move(file), std::move(index));
  } else {
    reader = std::make_unique<CompressedText>(std::move(file), encoding, std::move(index));
  }
  return reader;
}

}  // namespace stepscope::bytes
