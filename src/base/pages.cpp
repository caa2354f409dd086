#include "base/pages.h"

#include <sys/mman.h>

#include <cstdint>
#include <new>

namespace stepscope::base {
namespace {

constexpr std::size_t kSlabBytes = 2 * kHugePageBytes;
constexpr std::size_t kSliceAlign = 64;

std::byte* map(std::size_t bytes) {
  void* const at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) throw std::bad_alloc();
  return static_cast<std::byte*>(at);
}

}  // namespace

std::byte* map_pages(std::size_t bytes) {
  if (bytes < kHugePageBytes) return map(bytes);
  // One huge page more than needed, so that the block can begin at the border of one.
  const std::size_t page = 4096;
  const std::size_t size = (bytes + page - 1) / page * page;
  std::byte* const whole = map(size + kHugePageBytes);
  const std::size_t before =
      (kHugePageBytes - reinterpret_cast<std::uintptr_t>(whole) % kHugePageBytes) % kHugePageBytes;
  if (before != 0) munmap(whole, before);
  munmap(whole + before + size, kHugePageBytes - before);
  // A wish: where the system grants none, the block is an ordinary one.
  madvise(whole + before, size, MADV_HUGEPAGE);
  return whole + before;
}

void unmap_pages(std::byte* at, std::size_t bytes) { munmap(at, bytes); }

Slice Slab::take(std::size_t bytes) {
  Slice slice;
  if (bytes == 0) return slice;
  const std::size_t rounded = (bytes + kSliceAlign - 1) / kSliceAlign * kSliceAlign;
  if (block_ == nullptr || block_->size() - used_ < rounded) {
    block_ = std::make_shared<Pages>(rounded > kSlabBytes ? rounded : kSlabBytes);
    used_ = 0;
  }
  slice.owner_ = block_;
  slice.data_ = block_->data() + used_;
  slice.size_ = bytes;
  used_ += rounded;
  return slice;
}

}  // namespace stepscope::base
