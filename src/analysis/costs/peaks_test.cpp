#include "analysis/costs/peaks.h"

#include <set>
#include <string>

#include <gtest/gtest.h>

namespace stepscope::analysis {
namespace {

trace::DeviceProperties device(std::string name, std::int64_t gb, std::int64_t multiprocessors,
                               std::int64_t major = 0, std::int64_t minor = 0) {
  trace::DeviceProperties out;
  out.name = std::move(name);
  out.memory_bytes = gb * 1'000'000'000;
  out.multiprocessors = multiprocessors;
  out.compute_major = major;
  out.compute_minor = minor;
  return out;
}

TEST(Peaks, NamesAsTracesWriteThem) {
  const struct {
    trace::DeviceProperties device;
    const char* name;  // empty: not known
    double bf16;
  } cases[] = {
      {device("NVIDIA H200", 150, 132), "H200 SXM", 989.5e12},
      {device("NVIDIA H100 80GB HBM3", 85, 132), "H100 SXM", 989.5e12},
      {device("NVIDIA H100 PCIe", 85, 114), "H100 PCIe", 756e12},
      {device("NVIDIA H100 NVL", 100, 132), "H100 NVL", 835.5e12},
      {device("NVIDIA B200", 191, 148), "B200", 2250e12},
      {device("NVIDIA GB200", 191, 152), "GB200", 2500e12},
      {device("NVIDIA A100-SXM4-40GB", 42, 108), "A100 40GB", 312e12},
      {device("NVIDIA A100-PG509-200", 42, 108), "A100 40GB", 312e12},
      {device("NVIDIA A100-SXM4-80GB", 85, 108), "A100 80GB SXM", 312e12},
      {device("NVIDIA A100 80GB PCIe", 85, 108), "A100 80GB PCIe", 312e12},
      {device("NVIDIA A100-SXM4-80GB", 0, 108), "", 0},  // no memory recorded: which one?
      {device("NVIDIA A10", 24, 72), "A10", 125e12},
      {device("NVIDIA A10G", 24, 80), "A10G", 70e12},
      {device("Tesla V100-SXM2-32GB", 34, 80), "V100 SXM2", 0},
      {device("NVIDIA L4", 24, 58), "L4", 121e12},
      {device("NVIDIA L40S", 48, 142), "L40S", 362.05e12},
      {device("NVIDIA GeForce RTX 4090", 25, 128), "RTX 4090", 165.2e12},
      {device("NVIDIA GeForce RTX 4090 D", 25, 114), "", 0},
      {device("NVIDIA GeForce RTX 4090 Laptop GPU", 17, 76), "", 0},
      {device("NVIDIA A100-SXM-64GB", 68, 124), "", 0},
      {device("AMD Instinct MI300X", 206, 304, 9, 4), "MI300X", 1307.4e12},
      {device("AMD Instinct MI300X VF", 205, 304, 9, 4), "MI300X", 1307.4e12},
      {device("AMD Instinct MI250X", 68, 110, 9, 0), "MI250X (one die)", 191.5e12},
      {device("AMD Instinct MI250X / MI250", 68, 110, 9, 0), "MI250X (one die)", 191.5e12},
      {device("AMD Instinct MI250X / MI250", 68, 104, 9, 0), "MI250 (one die)", 181.05e12},
      {device("AMD Radeon Graphics", 68, 104, 9, 0), "MI250 (one die)", 181.05e12},
      {device("", 206, 304, 9, 4), "MI300X", 1307.4e12},
      {device("", 0, 0), "", 0},
      {device("AMD Radeon Graphics", 16, 60, 10, 3), "", 0},
      {device("Some Accelerator", 64, 100), "", 0},
      {device("NVIDIA H100 80GB HBM3 MIG 1g.10gb", 10, 16), "", 0},
      {device("AMD Instinct MI300X", 24, 38, 9, 4), "", 0},  // a partition
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.device.name);
    const FoundPeaks found = find_peaks(c.device, {});
    EXPECT_EQ(found.peaks ? found.peaks->name : "", c.name);
    if (found.peaks) {
      EXPECT_DOUBLE_EQ((*found.peaks)[Arithmetic::kBf16], c.bf16);
    }
    EXPECT_EQ(found.why_not.empty(), found.peaks.has_value());
  }
}

// Sparse figures are twice the dense ones; a row that mixes them shows in its ratios.
TEST(Peaks, RowsArePlausible) {
  std::set<std::string_view> names;
  for (const KnownDevice& row : known_devices()) {
    SCOPED_TRACE(row.name);
    EXPECT_TRUE(names.insert(row.name).second);
    EXPECT_GT(row.fp32, 0);
    EXPECT_GT(row.fp16, row.fp32);
    EXPECT_GT(row.gb_per_second, 100);
    if (row.fp8 > 0) {
      EXPECT_NEAR(row.fp8 / row.fp16, 2, 0.05);
    }
    if (row.tf32 > 0) {
      EXPECT_NEAR(row.fp16 / row.tf32, 2, 0.05);
    }
    if (row.bf16 > 0 && row.name != "MI100") {
      EXPECT_EQ(row.bf16, row.fp16);
    }
    EXPECT_TRUE(row.fp64_tensor == 0 || row.fp64_tensor >= 0.9 * row.fp64);
  }
  for (const NamelessDevice& row : nameless_devices()) EXPECT_TRUE(names.contains(row.name));
}

TEST(Peaks, TheUserGoesFirstAndTheTableFillsIn) {
  OwnPeaks own;
  own.match = "H200";
  own.peaks.name = "H200";
  own.peaks.flops[static_cast<std::size_t>(Arithmetic::kBf16)] = 800e12;
  const FoundPeaks found = find_peaks(device("NVIDIA H200", 150, 132), std::span(&own, 1));
  ASSERT_TRUE(found.peaks);
  EXPECT_DOUBLE_EQ((*found.peaks)[Arithmetic::kBf16], 800e12);
  EXPECT_DOUBLE_EQ((*found.peaks)[Arithmetic::kFp8], 1979e12);
  EXPECT_DOUBLE_EQ(found.peaks->bytes_per_second, 4800e9);
  own.match = "some acc";  // in any case
  const FoundPeaks other = find_peaks(device("Some Accelerator", 1, 1), std::span(&own, 1));
  ASSERT_TRUE(other.peaks);
  EXPECT_DOUBLE_EQ((*other.peaks)[Arithmetic::kFp8], 0);
}

TEST(Peaks, MatrixUnitsWhereTheyDiffer) {
  const FoundPeaks found = find_peaks(device("AMD Instinct MI210", 68, 104), {});
  ASSERT_TRUE(found.peaks);
  EXPECT_DOUBLE_EQ(found.peaks->matrix_flops(Arithmetic::kFp32), 45.3e12);
  EXPECT_DOUBLE_EQ(found.peaks->matrix_flops(Arithmetic::kFp16), 181e12);
}

}  // namespace
}  // namespace stepscope::analysis
