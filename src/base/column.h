// A column of plain values, sized once. Fresh pages come zeroed from the system and are touched
// only when written, so building a large table costs one pass over its memory, not two.
#pragma once

#include <cstdlib>
#include <memory>
#include <new>
#include <span>
#include <type_traits>

#include "base/pages.h"

namespace stepscope::base {

template <class T>
class Column {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Column() = default;
  explicit Column(std::size_t size) : size_(size), data_(make(size), Free{size * sizeof(T), {}}) {}
  // Out of memory that it shares with the columns it is dropped with.
  Column(std::size_t size, Slab& slab) : size_(size) {
    const Slice slice = slab.take(size * sizeof(T));
    data_ = {reinterpret_cast<T*>(slice.data()), Free{0, slice.owner()}};
  }

  // In memory that held something else, and still does: to be written whole.
  Column(std::size_t size, const Slice& slice)
      : size_(size), data_(reinterpret_cast<T*>(slice.data()), Free{0, slice.owner()}) {}

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T& operator[](std::size_t i) { return data_.get()[i]; }
  const T& operator[](std::size_t i) const { return data_.get()[i]; }
  std::span<T> span() { return {data_.get(), size_}; }
  std::span<const T> span() const { return {data_.get(), size_}; }
  std::size_t memory() const { return size_ * sizeof(T); }

 private:
  static T* make(std::size_t size) {
    if (size * sizeof(T) > kSmallBytes) return reinterpret_cast<T*>(map_pages(size * sizeof(T)));
    void* const data = std::calloc(size == 0 ? 1 : size, sizeof(T));
    if (data == nullptr) throw std::bad_alloc();  // as std::vector would
    return static_cast<T*>(data);
  }
  struct Free {
    std::size_t bytes = 0;
    std::shared_ptr<Pages> shared;
    void operator()(T* p) const {
      if (shared != nullptr) return;
      if (bytes > kSmallBytes) {
        unmap_pages(reinterpret_cast<std::byte*>(p), bytes);
      } else {
        std::free(p);
      }
    }
  };
  std::size_t size_ = 0;
  std::unique_ptr<T, Free> data_;
};

}  // namespace stepscope::base
