// A file seen through a window: what a decompressor eats from. Memory stays the size of the window
// whatever the file is, or that of the longest piece a decompressor wants whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/result.h"
#include "bytes/raw_file.h"

namespace stepscope::bytes {

class InputWindow {
 public:
  InputWindow(RawFile file, std::size_t capacity);

  const RawFile& file() const { return file_; }
  std::span<char> unread() { return {buffer_.get() + begin_, end_ - begin_}; }
  std::uint64_t position() const { return file_.position() - (end_ - begin_); }  // of unread()[0]
  void consume(std::size_t count) { begin_ += count; }

  // As fill(), but without reading ahead. count is at most the capacity.
  base::Status want(std::size_t count);
  // At least `count` bytes in unread(), or all there are, and as many more as the window holds;
  // false at the end of the file, when nothing is unread.
  base::Result<bool> fill(std::size_t count = 1);
  // The next byte, consumed; -1 at the end of the file.
  base::Result<int> take();
  // Past the window, straight into the caller's buffer; unread() must be empty.
  base::Result<std::size_t> read_past(std::span<char> into) { return file_.read(into); }
  void seek(std::uint64_t file_offset);

 private:
  void to_front();  // unread()
  void grow(std::size_t capacity);
  base::Status read_until(std::size_t count, std::size_t most);  // of the window, from its front

  RawFile file_;
  std::size_t capacity_;
  std::unique_ptr<char[]> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

}  // namespace stepscope::bytes
