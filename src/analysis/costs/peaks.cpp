#include "analysis/costs/peaks.h"

#include <algorithm>

#include <fmt/format.h>

#include "analysis/costs/own_peaks.h"
#include "analysis/costs/peak_table.h"

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

}  // namespace stepscope::analysis
