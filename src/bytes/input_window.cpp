// A file seen through a window of fixed size.
#include "bytes/input_window.h"

#include <cstring>
#include <utility>

namespace stepscope::bytes {

using base::Result;
using base::Status;

InputWindow::InputWindow(RawFile file, std::size_t capacity)
    : file_(std::move(file)), capacity_(capacity), buffer_(new char[capacity]) {}

void InputWindow::to_front() {
  if (begin_ == 0) return;
  std::memmove(buffer_.get(), buffer_.get() + begin_, end_ - begin_);
  end_ -= std::exchange(begin_, 0);
}

void InputWindow::grow(std::size_t capacity) {
  std::unique_ptr<char[]> larger(new char[capacity]);
  std::memcpy(larger.get(), buffer_.get(), end_);
  buffer_ = std::move(larger);
  capacity_ = capacity;
}

Status InputWindow::read_until(std::size_t count, std::size_t most) {
  while (end_ < count) {
    SCOPE_TRY(const std::size_t got, file_.read({buffer_.get() + end_, most - end_}));
    if (got == 0) break;
    end_ += got;
  }
  return base::Done{};
}

Status InputWindow::want(std::size_t count) {
  to_front();
  // Only what is wanted: the rest of a plain file goes past the window.
  return read_until(count, count);
}

Result<bool> InputWindow::fill(std::size_t count) {
  if (end_ - begin_ >= count) return true;
  to_front();
  if (count > capacity_) grow(count);
  SCOPE_TRY(read_until(count, capacity_));
  return end_ > 0;
}

Result<int> InputWindow::take() {
  SCOPE_TRY(const bool more, fill());
  if (!more) return -1;
  return static_cast<unsigned char>(buffer_[begin_++]);
}

void InputWindow::seek(std::uint64_t file_offset) {
  begin_ = end_ = 0;
  file_.seek(file_offset);
}

}  // namespace stepscope::bytes
