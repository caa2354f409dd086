#include "base/pages.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/column.h"
#include "base/int_column.h"

namespace stepscope::base {
namespace {

bool all_zero(const std::byte* at, std::size_t size) {
  return std::all_of(at, at + size, [](std::byte byte) { return byte == std::byte{0}; });
}

// Every size is mapped and unmapped whole, on both sides of where huge pages begin.
TEST(Pages, AreZeroedAndWritableToTheEnd) {
  for (const std::size_t bytes :
       {std::size_t{1}, kSmallBytes, kSmallBytes + 1, kHugePageBytes, kHugePageBytes + 1,
        kHugePageBytes + kSmallBytes, kHugePageBytes + kSmallBytes + 1, 3 * kHugePageBytes - 1}) {
    const Pages pages(bytes);
    EXPECT_TRUE(all_zero(pages.data(), bytes)) << bytes;
    std::fill_n(pages.data(), bytes, std::byte{1});
    if (bytes > kSmallBytes) {
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(pages.data()) % kHugePageBytes, 0U) << bytes;
    }
  }
}

TEST(Slab, SlicesLieSideBySide) {
  Slab slab(1000);
  const Slice first = slab.take(100);
  const Slice second = slab.take(100);
  EXPECT_EQ(second.data() - first.data(), 128);
  EXPECT_EQ(first.owner(), second.owner());
  const Slice larger = slab.take(5000);  // than a block: one of its own
  EXPECT_NE(larger.owner(), first.owner());
  EXPECT_TRUE(all_zero(larger.data(), 5000));
  EXPECT_EQ(slab.take(0).data(), nullptr);
}

TEST(Slab, TellsWhichPagesAreNew) {
  Slab slab(4 * kHugePageBytes);
  EXPECT_TRUE(slab.new_pages().empty());
  const Slice first = slab.take(kHugePageBytes + 64);
  EXPECT_EQ(slab.new_pages(),
            (std::vector<std::byte*>{first.data(), first.data() + kHugePageBytes}));
  const Slice rest = slab.take(100);  // in the second of these
  EXPECT_TRUE(slab.new_pages().empty());
  const Slice last = slab.take(kHugePageBytes);
  std::byte* const third = first.data() + 2 * kHugePageBytes;
  EXPECT_EQ(slab.new_pages(), std::vector<std::byte*>{third});
  const Slice other = slab.take(4 * kHugePageBytes);  // in another block
  const std::vector<std::byte*> pages = slab.new_pages();
  EXPECT_EQ(pages, (std::vector<std::byte*>{other.data(), other.data() + kHugePageBytes,
                                            other.data() + 2 * kHugePageBytes,
                                            other.data() + 3 * kHugePageBytes}));
}

bool is_there(std::byte* page) {
  unsigned char there = 0;
  EXPECT_EQ(mincore(page, 1, &there), 0);
  return (there & 1) != 0;
}

TEST(Pages, AreFetchedAndStayAsTheyAre) {
  const Pages pages(3 * kHugePageBytes);
  std::byte* const second = pages.data() + kHugePageBytes;
  EXPECT_FALSE(is_there(second));
  fetch_page(second);
  EXPECT_TRUE(is_there(second));
  EXPECT_FALSE(is_there(second + kHugePageBytes));
  *second = std::byte{8};
  fetch_page(second);
  EXPECT_EQ(*second, std::byte{8});
}

TEST(Column, OfASlabOutlivesIt) {
  Column<std::int64_t> numbers;
  IntColumn narrow, wide;
  {
    Slab slab(4096);
    numbers = Column<std::int64_t>(100, slab);
    IntRange large;
    large.include(std::int64_t{1} << 40);
    narrow = {50, {}, slab};
    wide = {50, large, slab};
    Column<char> dropped(10, slab);
  }
  EXPECT_EQ(numbers[99], 0);
  for (std::size_t i = 0; i < 50; ++i) {
    numbers[i] = -1;
    narrow.set(i, -2);
    wide.set(i, std::int64_t{1} << 40);
  }
  const Column<std::int64_t> moved = std::move(numbers);
  EXPECT_EQ(moved[49], -1);
  EXPECT_EQ(narrow[49], -2);
  EXPECT_EQ(wide[49], std::int64_t{1} << 40);
  Slab slab;
  EXPECT_TRUE(Column<int>(0, slab).span().empty());
}

}  // namespace
}  // namespace stepscope::base
