// A column of whole numbers that takes 4 bytes a value when all of them fit, 8 when not. For ids
// that are almost always small and, on some vendors' traces, are 64-bit addresses.
#pragma once

#include <cstdint>
#include <limits>

#include "base/column.h"

namespace stepscope::base {

// The smallest and largest value that will be stored; grown while reading.
struct IntRange {
  std::int64_t low = 0;
  std::int64_t high = 0;
  void include(std::int64_t value) {
    low = value < low ? value : low;
    high = value > high ? value : high;
  }
  void include(const IntRange& other) {
    include(other.low);
    include(other.high);
  }
  bool fits_32() const {
    return low >= std::numeric_limits<std::int32_t>::min() &&
           high <= std::numeric_limits<std::int32_t>::max();
  }
};

class IntColumn {
 public:
  IntColumn() = default;
  IntColumn(std::size_t size, const IntRange& range) : wide_(!range.fits_32()) {
    if (wide_) {
      values_64_ = Column<std::int64_t>(size);
    } else {
      values_32_ = Column<std::int32_t>(size);
    }
  }
  IntColumn(std::size_t size, const IntRange& range, Slab& slab) : wide_(!range.fits_32()) {
    if (wide_) {
      values_64_ = Column<std::int64_t>(size, slab);
    } else {
      values_32_ = Column<std::int32_t>(size, slab);
    }
  }

  std::size_t size() const { return wide_ ? values_64_.size() : values_32_.size(); }
  std::int64_t operator[](std::size_t i) const { return wide_ ? values_64_[i] : values_32_[i]; }
  void set(std::size_t i, std::int64_t value) {
    if (wide_) {
      values_64_[i] = value;
    } else {
      values_32_[i] = static_cast<std::int32_t>(value);
    }
  }
  std::size_t memory() const { return values_32_.memory() + values_64_.memory(); }

 private:
  bool wide_ = false;
  Column<std::int32_t> values_32_;
  Column<std::int64_t> values_64_;
};

}  // namespace stepscope::base
