// A block of memory straight from the system, given back the moment it is dropped. malloc keeps
// freed medium-sized blocks, which would double the peak while a table is rebuilt from its parts.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

namespace stepscope::base {

class Pages {
 public:
  Pages() = default;
  explicit Pages(std::size_t bytes);
  ~Pages();
  Pages(Pages&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  Pages& operator=(Pages&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }

  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace stepscope::base
