// The table of what devices can do at best, and how a device is found in it.
#include "analysis/costs/peaks.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace stepscope::analysis {
namespace {

constexpr std::array<std::string_view, kArithmetics> kPeaksNames = {
    "fp64", "fp64_tensor", "fp32", "fp32_tensor", "tf32", "fp16", "bf16", "fp8", "int8", "fp4"};

bool is_word_part(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// Whether a name has these letters and digits as words of their own: "A10" is not in "A100".
bool has_peaks_word(std::string_view name, std::string_view word) {
  for (std::size_t at = name.find(word); at != std::string_view::npos;
       at = name.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    const bool starts = at == 0 || !is_word_part(name[at - 1]) || !is_word_part(word.front());
    const bool ends = end == name.size() || !is_word_part(name[end]) || !is_word_part(word.back());
    if (starts && ends) return true;
  }
  return false;
}

bool has_words(std::string_view name, std::string_view words) {
  while (!words.empty()) {
    const std::size_t space = words.find(' ');
    if (!has_peaks_word(name, words.substr(0, space))) return false;
    if (space == std::string_view::npos) break;
    words.remove_prefix(space + 1);
  }
  return true;
}

std::int64_t gigabytes(const trace::DeviceProperties& device) {
  return device.memory_bytes / 1'000'000'000;
}

// Memory that is not recorded is in no range but the one of everything.
bool in_range(std::int64_t gb, std::int64_t from, std::int64_t below) {
  if (from == 0 && below == 0) return true;
  return gb > 0 && gb >= from && (below == 0 || gb < below);
}

Peaks peaks_of(const KnownDevice& row) {
  Peaks peaks{.name = std::string(row.name)};
  const std::array<double, kArithmetics> tera = {
      row.fp64, row.fp64_tensor, row.fp32, row.fp32_tensor, row.tf32,
      row.fp16, row.bf16,        row.fp8,  row.int8,        row.fp4};
  std::ranges::transform(tera, peaks.flops.begin(), [](double value) { return value * 1e12; });
  peaks.bytes_per_second = row.gb_per_second * 1e9;
  return peaks;
}

const KnownDevice* by_name(const trace::DeviceProperties& device) {
  // Another chip under the name of the desktop's.
  if (has_words(device.name, "Laptop")) return nullptr;
  const KnownDevice* first = nullptr;
  for (const KnownDevice& row : known_devices()) {
    const bool without = row.without.empty() || !has_words(device.name, row.without);
    if (!has_words(device.name, row.match) || !without ||
        !in_range(gigabytes(device), row.from_gb, row.below_gb)) {
      continue;
    }
    // A name may be that of two: "AMD Instinct MI250X / MI250".
    if (row.multiprocessors == device.multiprocessors) return &row;
    if (first == nullptr) first = &row;
  }
  return first;
}

const KnownDevice* by_properties(const trace::DeviceProperties& device) {
  if (!device.name.empty() && device.name != "AMD Radeon Graphics") return nullptr;
  for (const NamelessDevice& row : nameless_devices()) {
    if (row.compute_major == device.compute_major && row.compute_minor == device.compute_minor &&
        row.multiprocessors == device.multiprocessors &&
        in_range(gigabytes(device), row.from_gb, row.below_gb)) {
      return &*std::ranges::find(known_devices(), row.name, &KnownDevice::name);
    }
  }
  return nullptr;
}

// What the user says over what the table says.
Peaks merged(const Peaks& own, const std::optional<Peaks>& table) {
  if (!table) return own;
  Peaks out = *table;
  for (std::size_t i = 0; i < kArithmetics; ++i) {
    if (own.flops[i] > 0) out.flops[i] = own.flops[i];
  }
  if (own.bytes_per_second > 0) out.bytes_per_second = own.bytes_per_second;
  out.name = own.name;
  return out;
}

FoundPeaks find_in_table(const trace::DeviceProperties& device) {
  const KnownDevice* row = by_name(device);
  if (row == nullptr) row = by_properties(device);
  if (row == nullptr) return {std::nullopt, "is not in the table of peaks"};
  const bool differs = row->multiprocessors > 0 && device.multiprocessors > 0 &&
                       device.multiprocessors != row->multiprocessors;
  if (differs || device.name.find(" MIG ") != std::string::npos) {
    return {std::nullopt,
            fmt::format("has {} multiprocessors where a whole {} has {}: it is {}",
                        device.multiprocessors, row->name, row->multiprocessors,
                        device.multiprocessors > row->multiprocessors ? "another device"
                                                                      : "a part of one")};
  }
  return {peaks_of(*row), {}};
}

}  // namespace

std::string_view name_of(Arithmetic arithmetic) {
  return kPeaksNames[static_cast<std::size_t>(arithmetic)];
}

std::optional<Arithmetic> arithmetic_named(std::string_view name) {
  const auto* found = std::ranges::find(kPeaksNames, name);
  if (found == kPeaksNames.end()) return std::nullopt;
  return static_cast<Arithmetic>(found - kPeaksNames.begin());
}

double Peaks::matrix_flops(Arithmetic arithmetic) const {
  const Peaks& self = *this;
  if (arithmetic == Arithmetic::kFp64 && self[Arithmetic::kFp64Tensor] > 0) {
    return self[Arithmetic::kFp64Tensor];
  }
  if (arithmetic == Arithmetic::kFp32 && self[Arithmetic::kFp32Tensor] > 0) {
    return self[Arithmetic::kFp32Tensor];
  }
  return self[arithmetic];
}

FoundPeaks find_peaks(const trace::DeviceProperties& device, std::span<const OwnPeaks> own) {
  FoundPeaks table = find_in_table(device);
  for (const OwnPeaks& entry : own) {
    if (fits(entry, device)) return {merged(entry.peaks, table.peaks), {}};
  }
  return table;
}

namespace {

// clang-format off
constexpr std::array kPeakTableDevices = std::to_array<KnownDevice>({
    {.name = "P100 PCIe", .match = "P100-PCIE", .multiprocessors = 56, .fp64 = 4.7, .fp32 = 9.3, .fp16 = 18.7, .gb_per_second = 732},
    {.name = "P100 SXM2", .match = "P100-SXM2", .multiprocessors = 56, .fp64 = 5.3, .fp32 = 10.6, .fp16 = 21.2, .gb_per_second = 732},
    {.name = "V100S PCIe", .match = "V100S", .multiprocessors = 80, .fp64 = 8.2, .fp32 = 16.4, .fp16 = 130, .gb_per_second = 1134},
    {.name = "V100 PCIe", .match = "V100-PCIE", .multiprocessors = 80, .fp64 = 7, .fp32 = 14, .fp16 = 112, .gb_per_second = 900},
    {.name = "V100 SXM2", .match = "V100-SXM2", .multiprocessors = 80, .fp64 = 7.8, .fp32 = 15.7, .fp16 = 125, .gb_per_second = 900},
    {.name = "V100 DGX Station", .match = "V100-DGXS", .multiprocessors = 80, .fp64 = 7.8, .fp32 = 15.7, .fp16 = 125, .gb_per_second = 900},
    {.name = "T4", .match = "T4", .multiprocessors = 40, .fp32 = 8.1, .fp16 = 65, .int8 = 130, .gb_per_second = 320},
    {.name = "A10G", .match = "A10G", .multiprocessors = 80, .fp32 = 35, .tf32 = 35, .fp16 = 70, .bf16 = 70, .int8 = 140, .gb_per_second = 600},
    {.name = "A10", .match = "A10", .multiprocessors = 72, .fp32 = 31.2, .tf32 = 62.5, .fp16 = 125, .bf16 = 125, .int8 = 250, .gb_per_second = 600},
    {.name = "A30", .match = "A30", .multiprocessors = 56, .fp64 = 5.2, .fp64_tensor = 10.3, .fp32 = 10.3, .tf32 = 82, .fp16 = 165, .bf16 = 165, .int8 = 330, .gb_per_second = 933},
    {.name = "A40", .match = "A40", .multiprocessors = 84, .fp32 = 37.4, .tf32 = 74.8, .fp16 = 149.7, .bf16 = 149.7, .int8 = 299.3, .gb_per_second = 696},
    {.name = "A100 80GB PCIe", .match = "A100 PCIe", .multiprocessors = 108, .from_gb = 60, .fp64 = 9.7, .fp64_tensor = 19.5, .fp32 = 19.5, .tf32 = 156, .fp16 = 312, .bf16 = 312, .int8 = 624, .gb_per_second = 1935},
    {.name = "A100 80GB SXM", .match = "A100", .multiprocessors = 108, .from_gb = 60, .fp64 = 9.7, .fp64_tensor = 19.5, .fp32 = 19.5, .tf32 = 156, .fp16 = 312, .bf16 = 312, .int8 = 624, .gb_per_second = 2039},
    {.name = "A100 40GB", .match = "A100", .multiprocessors = 108, .from_gb = 30, .below_gb = 60, .fp64 = 9.7, .fp64_tensor = 19.5, .fp32 = 19.5, .tf32 = 156, .fp16 = 312, .bf16 = 312, .int8 = 624, .gb_per_second = 1555},
    {.name = "L40S", .match = "L40S", .multiprocessors = 142, .fp32 = 91.6, .tf32 = 183, .fp16 = 362.05, .bf16 = 362.05, .fp8 = 733, .int8 = 733, .gb_per_second = 864},
    {.name = "L40", .match = "L40", .multiprocessors = 142, .fp32 = 90.5, .tf32 = 90.5, .fp16 = 181.05, .bf16 = 181.05, .fp8 = 362, .int8 = 362, .gb_per_second = 864},
    {.name = "L4", .match = "L4", .multiprocessors = 58, .fp32 = 30.3, .tf32 = 60, .fp16 = 121, .bf16 = 121, .fp8 = 242.5, .int8 = 242.5, .gb_per_second = 300},
    {.name = "GH200 144GB", .match = "GH200", .multiprocessors = 132, .from_gb = 120, .fp64 = 34, .fp64_tensor = 67, .fp32 = 67, .tf32 = 494.5, .fp16 = 989.5, .bf16 = 989.5, .fp8 = 1979, .int8 = 1979, .gb_per_second = 4900},
    {.name = "GH200 96GB", .match = "GH200", .multiprocessors = 132, .below_gb = 120, .fp64 = 34, .fp64_tensor = 67, .fp32 = 67, .tf32 = 494.5, .fp16 = 989.5, .bf16 = 989.5, .fp8 = 1979, .int8 = 1979, .gb_per_second = 4000},
    {.name = "H100 NVL", .match = "H100 NVL", .multiprocessors = 132, .fp64 = 30, .fp64_tensor = 60, .fp32 = 60, .tf32 = 417.5, .fp16 = 835.5, .bf16 = 835.5, .fp8 = 1670.5, .int8 = 1670.5, .gb_per_second = 3900},
    {.name = "H100 PCIe", .match = "H100 PCIe", .multiprocessors = 114, .fp64 = 26, .fp64_tensor = 51, .fp32 = 51, .tf32 = 378, .fp16 = 756, .bf16 = 756, .fp8 = 1513, .int8 = 1513, .gb_per_second = 2000},
    {.name = "H100 SXM", .match = "H100 80GB HBM3", .multiprocessors = 132, .fp64 = 34, .fp64_tensor = 67, .fp32 = 67, .tf32 = 494.5, .fp16 = 989.5, .bf16 = 989.5, .fp8 = 1979, .int8 = 1979, .gb_per_second = 3350},
    {.name = "H200 NVL", .match = "H200 NVL", .multiprocessors = 132, .fp64 = 30, .fp64_tensor = 60, .fp32 = 60, .tf32 = 417.5, .fp16 = 835.5, .bf16 = 835.5, .fp8 = 1670.5, .int8 = 1670.5, .gb_per_second = 4800},
    {.name = "H200 SXM", .match = "H200", .multiprocessors = 132, .fp64 = 34, .fp64_tensor = 67, .fp32 = 67, .tf32 = 494.5, .fp16 = 989.5, .bf16 = 989.5, .fp8 = 1979, .int8 = 1979, .gb_per_second = 4800},
    {.name = "H20", .match = "H20", .multiprocessors = 78, .fp64 = 1, .fp32 = 44, .tf32 = 74, .fp16 = 148, .bf16 = 148, .fp8 = 296, .int8 = 296, .gb_per_second = 4000},
    {.name = "GB300", .match = "GB300", .fp64 = 1.3, .fp32 = 80, .tf32 = 1250, .fp16 = 2500, .bf16 = 2500, .fp8 = 5000, .int8 = 165, .fp4 = 15000, .gb_per_second = 8000},
    {.name = "GB200", .match = "GB200", .fp64 = 40, .fp64_tensor = 40, .fp32 = 80, .tf32 = 1250, .fp16 = 2500, .bf16 = 2500, .fp8 = 5000, .int8 = 5000, .fp4 = 10000, .gb_per_second = 8000},
    {.name = "B300", .match = "B300", .fp64 = 1.2, .fp32 = 75, .tf32 = 1125, .fp16 = 2250, .bf16 = 2250, .fp8 = 4500, .int8 = 150, .fp4 = 13500, .gb_per_second = 8000},
    {.name = "B200", .match = "B200", .multiprocessors = 148, .fp64 = 37, .fp64_tensor = 37, .fp32 = 75, .tf32 = 1125, .fp16 = 2250, .bf16 = 2250, .fp8 = 4500, .int8 = 4500, .fp4 = 9000, .gb_per_second = 8000},
    {.name = "B100", .match = "B100", .fp64 = 30, .fp64_tensor = 30, .fp32 = 60, .tf32 = 875, .fp16 = 1750, .bf16 = 1750, .fp8 = 3500, .int8 = 3500, .fp4 = 7000, .gb_per_second = 8000},
    // Consumer cards: the rate with sums in 32 bits, which is what training does.
    {.name = "RTX 3090 Ti", .match = "RTX 3090 Ti", .multiprocessors = 84, .fp32 = 40, .tf32 = 40, .fp16 = 80, .bf16 = 80, .int8 = 320, .gb_per_second = 1008},
    {.name = "RTX 3090", .match = "RTX 3090", .multiprocessors = 82, .fp32 = 35.6, .tf32 = 35.6, .fp16 = 71.2, .bf16 = 71.2, .int8 = 284.7, .gb_per_second = 936},
    {.name = "RTX 4090", .match = "RTX 4090", .without = "D", .multiprocessors = 128, .fp32 = 82.6, .tf32 = 82.6, .fp16 = 165.2, .bf16 = 165.2, .fp8 = 330.3, .int8 = 660.6, .gb_per_second = 1008},
    {.name = "RTX 4080", .match = "RTX 4080", .without = "SUPER", .multiprocessors = 76, .fp32 = 48.7, .tf32 = 48.7, .fp16 = 97.5, .bf16 = 97.5, .fp8 = 194.9, .int8 = 389.9, .gb_per_second = 716.8},
    {.name = "RTX 5090", .match = "RTX 5090", .without = "D", .multiprocessors = 170, .fp32 = 104.8, .tf32 = 104.8, .fp16 = 209.5, .bf16 = 209.5, .fp8 = 419, .int8 = 838, .fp4 = 1676, .gb_per_second = 1792},
    {.name = "RTX 5080", .match = "RTX 5080", .multiprocessors = 84, .fp32 = 56.3, .tf32 = 56.3, .fp16 = 112.6, .bf16 = 112.6, .fp8 = 225.1, .int8 = 450.2, .fp4 = 900.4, .gb_per_second = 960},
    {.name = "RTX 6000 Ada", .match = "RTX 6000 Ada", .multiprocessors = 142, .fp32 = 91.1, .tf32 = 182.1, .fp16 = 364.2, .bf16 = 364.2, .fp8 = 728.5, .int8 = 728.5, .gb_per_second = 960},
    {.name = "RTX A6000", .match = "RTX A6000", .multiprocessors = 84, .fp32 = 38.7, .tf32 = 77.4, .fp16 = 154.8, .bf16 = 154.8, .int8 = 309.7, .gb_per_second = 768},
    {.name = "RTX A5000", .match = "RTX A5000", .multiprocessors = 64, .fp32 = 27.8, .tf32 = 55.6, .fp16 = 111.1, .bf16 = 111.1, .int8 = 222.2, .gb_per_second = 768},
    {.name = "RTX A4000", .match = "RTX A4000", .multiprocessors = 48, .fp32 = 19.2, .tf32 = 38.3, .fp16 = 76.7, .bf16 = 76.7, .int8 = 153.4, .gb_per_second = 448},
    {.name = "MI100", .match = "MI100", .multiprocessors = 120, .fp64 = 11.5, .fp32 = 23.1, .fp32_tensor = 46.1, .fp16 = 184.6, .bf16 = 92.3, .int8 = 184.6, .gb_per_second = 1228.8},
    {.name = "MI210", .match = "MI210", .multiprocessors = 104, .fp64 = 22.6, .fp64_tensor = 45.3, .fp32 = 22.6, .fp32_tensor = 45.3, .fp16 = 181, .bf16 = 181, .int8 = 181, .gb_per_second = 1638.4},
    // Two dies that a trace shows as two devices: half of the card each.
    {.name = "MI250X (one die)", .match = "MI250X", .multiprocessors = 110, .fp64 = 23.95, .fp64_tensor = 47.85, .fp32 = 23.95, .fp32_tensor = 47.85, .fp16 = 191.5, .bf16 = 191.5, .int8 = 191.5, .gb_per_second = 1638.4},
    {.name = "MI250 (one die)", .match = "MI250", .multiprocessors = 104, .fp64 = 22.65, .fp64_tensor = 45.25, .fp32 = 22.65, .fp32_tensor = 45.25, .fp16 = 181.05, .bf16 = 181.05, .int8 = 181.05, .gb_per_second = 1638.4},
    {.name = "MI300A", .match = "MI300A", .multiprocessors = 228, .fp64 = 61.3, .fp64_tensor = 122.6, .fp32 = 122.6, .fp32_tensor = 122.6, .tf32 = 490.3, .fp16 = 980.6, .bf16 = 980.6, .fp8 = 1961.2, .int8 = 1961.2, .gb_per_second = 5300},
    {.name = "MI300X", .match = "MI300X", .multiprocessors = 304, .fp64 = 81.7, .fp64_tensor = 163.4, .fp32 = 163.4, .fp32_tensor = 163.4, .tf32 = 653.7, .fp16 = 1307.4, .bf16 = 1307.4, .fp8 = 2614.9, .int8 = 2614.9, .gb_per_second = 5300},
    {.name = "MI325X", .match = "MI325X", .multiprocessors = 304, .fp64 = 81.7, .fp64_tensor = 163.4, .fp32 = 163.4, .fp32_tensor = 163.4, .tf32 = 653.7, .fp16 = 1307.4, .bf16 = 1307.4, .fp8 = 2614.9, .int8 = 2614.9, .gb_per_second = 6000},
    {.name = "MI350X", .match = "MI350X", .multiprocessors = 256, .fp64 = 72.1, .fp64_tensor = 72.1, .fp32 = 144.2, .fp32_tensor = 144.2, .fp16 = 2306.9, .bf16 = 2306.9, .fp8 = 4613.7, .int8 = 4613.7, .fp4 = 9227.5, .gb_per_second = 8000},
    {.name = "MI355X", .match = "MI355X", .multiprocessors = 256, .fp64 = 78.6, .fp64_tensor = 78.6, .fp32 = 157.3, .fp32_tensor = 157.3, .fp16 = 2516.6, .bf16 = 2516.6, .fp8 = 5033.2, .int8 = 5033.2, .fp4 = 10066.3, .gb_per_second = 8000},
});

constexpr std::array kNameless = std::to_array<NamelessDevice>({
    {9, 0, 104, 60, 70, "MI250 (one die)"},  // an MI210 does the same
    {9, 0, 110, 60, 70, "MI250X (one die)"},
    {9, 4, 304, 180, 220, "MI300X"},
    {9, 4, 304, 240, 300, "MI325X"},
    {9, 4, 228, 100, 140, "MI300A"},
});
// clang-format on

}  // namespace

std::span<const KnownDevice> known_devices() { return kPeakTableDevices; }
std::span<const NamelessDevice> nameless_devices() { return kNameless; }

}  // namespace stepscope::analysis
