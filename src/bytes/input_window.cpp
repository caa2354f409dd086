#include "bytes/input_window.h"

#include <cstring>
#include <utility>

namespace stepscope::bytes {

using base::Result;
using base::Status;

InputWindow::InputWindow(RawFile file, std::size_t capacity)
    : file_(std::move(file)), capacity_(capacity), buffer_(new char[capacity]) {}

Status InputWindow::want(std::size_t count) {
  if (begin_ > 0) {
    std::memmove(buffer_.get(), buffer_.get() + begin_, end_ - begin_);
    end_ -= std::exchange(begin_, 0);
  }
  // Only what is wanted: the rest of a plain file goes past the window.
  while (end_ < count) {
    SCOPE_TRY(const std::size_t got, file_.read({buffer_.get() + end_, count - end_}));
    if (got == 0) break;
    end_ += got;
  }
  return base::Done{};
}

Result<bool> InputWindow::fill() {
  if (begin_ < end_) return true;
  begin_ = end_ = 0;
  SCOPE_TRY(end_, file_.read({buffer_.get(), capacity_}));
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
