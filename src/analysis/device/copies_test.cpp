#include "analysis/device/copies.h"

#include <gtest/gtest.h>

namespace stepscope::analysis {
namespace {

TEST(Copies, NamesOfCopiesOfAllVendors) {
  struct Case {
    std::string_view name, kind, memory;
  };
  for (const Case& c :
       {Case{"Memcpy HtoD (Pageable -> Device)", "HtoD", "pageable"},
        Case{"Memcpy DtoH (Device -> Pinned)", "DtoH", "pinned"},
        Case{"Memcpy DtoD (Device -> Device)", "DtoD", ""},
        Case{"Memcpy PtoP (Device -> Device)", "PtoP", ""},
        Case{"Memcpy HtoD (Host -> Device)", "HtoD", ""},
        Case{"Memcpy HtoD (Managed -> Device)", "HtoD", "managed"},
        Case{"CopyHostToDevice", "HtoD", ""}, Case{"Memcpy M2D", "HtoD", ""},
        Case{"Memcpy D2M", "DtoH", ""}, Case{"copy", "other", ""}, Case{"", "other", ""}}) {
    EXPECT_EQ(copy_name(c.name).kind, c.kind) << c.name;
    EXPECT_EQ(copy_name(c.name).host_memory, c.memory) << c.name;
  }
}

TEST(Copies, OnlyCopiesBetweenHostAndDeviceCrossTheBus) {
  EXPECT_TRUE(crosses_the_bus("HtoD"));
  EXPECT_TRUE(crosses_the_bus("AtoH"));
  EXPECT_FALSE(crosses_the_bus("HtoH"));
  EXPECT_FALSE(crosses_the_bus("DtoD"));
  EXPECT_FALSE(crosses_the_bus("other"));
}

TEST(Copies, RatesAreExactWhereA64bitProductIsNot) {
  EXPECT_EQ(bytes_per_second(4'096, 1'000), 4'096'000'000);
  EXPECT_EQ(bytes_per_second(80'000'000'000, 3'000'000'000), 26'666'666'666);
  EXPECT_EQ(bytes_per_second(1, 0), 0);
}

}  // namespace
}  // namespace stepscope::analysis
