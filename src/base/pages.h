// Memory straight from the system, given back the moment it is dropped. malloc keeps freed
// medium-sized blocks, which would double the peak while a table is rebuilt from its parts. Large
// blocks ask for huge pages: a fault for every 4 KiB costs as much as filling it does.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <utility>

namespace stepscope::base {

// Below this size huge pages have nothing to give.
inline constexpr std::size_t kHugePageBytes = std::size_t{1} << 21;

// Zeroed; aligned to kHugePageBytes from that size on. Throws std::bad_alloc as new does.
std::byte* map_pages(std::size_t bytes);
void unmap_pages(std::byte* at, std::size_t bytes);

class Pages {
 public:
  Pages() = default;
  explicit Pages(std::size_t bytes)
      : data_(bytes == 0 ? nullptr : map_pages(bytes)), size_(bytes) {}
  ~Pages() {
    if (data_ != nullptr) unmap_pages(data_, size_);
  }
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

// Part of a larger block; the block lives as long as any of its slices.
class Slice {
 public:
  Slice() = default;
  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  friend class Slab;
  std::shared_ptr<Pages> owner_;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

// Cuts slices of a few hundred KiB out of huge pages. For slices that are dropped in about the
// order in which they were taken: a block goes when the last of its slices does.
class Slab {
 public:
  Slice take(std::size_t bytes);  // aligned to 64

 private:
  std::shared_ptr<Pages> block_;
  std::size_t used_ = 0;
};

}  // namespace stepscope::base
