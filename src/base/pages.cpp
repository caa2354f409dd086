#include "base/pages.h"

#include <sys/mman.h>

#include <new>

namespace stepscope::base {

Pages::Pages(std::size_t bytes) : size_(bytes) {
  if (bytes == 0) return;
  // Populated at once: one call instead of a fault per page, all of which will be written.
  void* const at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (at == MAP_FAILED) throw std::bad_alloc();
  data_ = static_cast<std::byte*>(at);
}

Pages::~Pages() {
  if (data_ != nullptr) munmap(data_, size_);
}

}  // namespace stepscope::base
