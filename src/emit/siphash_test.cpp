// SipHash against the vectors of its authors.
#include "emit/siphash.h"

#include <string>

#include <gtest/gtest.h>

namespace stepscope::emit {
namespace {

// The vectors of the reference implementation: key 00 01 … 0f, input 00 01 … of each length.
TEST(SipHash, GivesTheReferenceValues) {
  constexpr std::uint64_t kLow = 0x0706050403020100;
  constexpr std::uint64_t kHigh = 0x0f0e0d0c0b0a0908;
  const auto hash = [](std::size_t length) {
    std::string text;
    for (std::size_t i = 0; i < length; ++i) text += static_cast<char>(i);
    return siphash(kLow, kHigh, text);
  };
  EXPECT_EQ(hash(0), 0x726fdb47dd0e0e31);
  EXPECT_EQ(hash(1), 0x74f839c593dc67fd);
  EXPECT_EQ(hash(7), 0xab0200f58b01d137);
  EXPECT_EQ(hash(8), 0x93f5f5799a932462);
  EXPECT_EQ(hash(15), 0xa129ca6149be45e5);
  EXPECT_EQ(hash(63), 0x958a324ceb064572);
}

}  // namespace
}  // namespace stepscope::emit
