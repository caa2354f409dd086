// Memory straight from the system, given back the moment it is dropped. malloc keeps freed
// medium-sized blocks, which would double the peak while a table is rebuilt from its parts. Large
// blocks ask for huge pages: a fault for every 4 KiB costs as much as filling it does.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace stepscope::base {

inline constexpr std::size_t kHugePageBytes = std::size_t{1} << 21;
// Up to this size huge pages have nothing to give. A rest beyond whole ones that is larger becomes
// one too: hundreds of faults cost more than that memory.
inline constexpr std::size_t kSmallBytes = kHugePageBytes / 2;

// Zeroed; aligned to kHugePageBytes beyond kSmallBytes. Throws std::bad_alloc as new does.
std::byte* map_pages(std::size_t bytes);
void unmap_pages(std::byte* at, std::size_t bytes);

// Has the system give the page in which this byte is, before anybody else writes there; the byte
// stays as it is. Two threads that are the first in a page each zero one, and one of these is
// thrown away.
void fetch_page(std::byte* at);

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
  const std::shared_ptr<Pages>& owner() const { return owner_; }
  Slice part(std::size_t from, std::size_t bytes) const;

 private:
  friend class Slab;
  std::shared_ptr<Pages> owner_;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

// Cuts slices out of large blocks, so that what is smaller than a huge page lies in one too. For
// slices that are dropped together, or in about the order in which they were taken: a block goes
// when the last of its slices does. What is never written to takes no memory but in the last page.
class Slab {
 public:
  explicit Slab(std::size_t block_bytes = 2 * kHugePageBytes) : block_bytes_(block_bytes) {}
  Slice take(std::size_t bytes);  // aligned to 64; zeroed

  // A byte in each huge page that begins in what was taken since this was asked last, of the
  // current block.
  std::vector<std::byte*> new_pages();

 private:
  std::size_t block_bytes_;
  std::shared_ptr<Pages> block_;
  std::size_t used_ = 0;
  std::size_t told_ = 0;  // of the block, by new_pages()
};

}  // namespace stepscope::base
