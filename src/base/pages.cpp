// Memory straight from the system, given back the moment it is dropped.
#include "base/pages.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <new>

namespace stepscope::base {
namespace {

constexpr std::size_t kSliceAlign = 64;

std::size_t mapped_bytes(std::size_t bytes) {
  const std::size_t page = bytes % kHugePageBytes > kSmallBytes ? kHugePageBytes : 4096;
  return (bytes + page - 1) / page * page;
}

std::byte* map(std::size_t bytes) {
  void* const at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) throw std::bad_alloc();
  return static_cast<std::byte*>(at);
}

}  // namespace

std::byte* map_pages(std::size_t bytes) {
  if (bytes <= kSmallBytes) return map(bytes);
  // One huge page more than needed, so that the block can begin at the border of one.
  const std::size_t size = mapped_bytes(bytes);
  std::byte* const whole = map(size + kHugePageBytes);
  const std::size_t before =
      (kHugePageBytes - reinterpret_cast<std::uintptr_t>(whole) % kHugePageBytes) % kHugePageBytes;
  if (before != 0) munmap(whole, before);
  munmap(whole + before + size, kHugePageBytes - before);
  // A wish: where the system grants none, the block is an ordinary one.
  madvise(whole + before, size, MADV_HUGEPAGE);
  return whole + before;
}

void unmap_pages(std::byte* at, std::size_t bytes) { munmap(at, mapped_bytes(bytes)); }

void fetch_page(std::byte* at) {
  auto* const byte = reinterpret_cast<volatile unsigned char*>(at);
  *byte = *byte;
}

Slice Slice::part(std::size_t from, std::size_t bytes) const {
  Slice part = *this;
  part.data_ += from;
  part.size_ = bytes;
  return part;
}

Slice Slab::take(std::size_t bytes) {
  Slice slice;
  if (bytes == 0) return slice;
  const std::size_t rounded = (bytes + kSliceAlign - 1) / kSliceAlign * kSliceAlign;
  if (block_ == nullptr || block_->size() - used_ < rounded) {
    block_ = std::make_shared<Pages>(std::max(rounded, block_bytes_));
    used_ = told_ = 0;
  }
  slice.owner_ = block_;
  slice.data_ = block_->data() + used_;
  slice.size_ = bytes;
  used_ += rounded;
  return slice;
}

std::vector<std::byte*> Slab::new_pages() {
  std::vector<std::byte*> pages;
  const std::size_t first = (told_ + kHugePageBytes - 1) / kHugePageBytes * kHugePageBytes;
  for (std::size_t at = first; at < used_; at += kHugePageBytes) {
    pages.push_back(block_->data() + at);
  }
  told_ = used_;
  return pages;
}

}  // namespace stepscope::base
