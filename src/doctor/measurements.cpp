// The table of measurements, and the arithmetic they share.
#include <algorithm>
#include <array>

#include "doctor/checks.h"

namespace stepscope::doctor {
namespace {

constexpr std::array<std::string_view, 2> kCopies = {"copy-pinned", "copy-pageable"};
constexpr std::array<std::string_view, 1> kGemm = {"gemm-bf16"};
constexpr std::array<std::string_view, 2> kFiles = {"file-read", "file-read-cached"};
constexpr std::array<std::string_view, 1> kHost = {"host-memory"};

constexpr std::array kMeasurements = std::to_array<Measurement>({
    {.names = kCopies, .measure = copy_rates},
    {.names = kGemm, .measure = gemm_rate},
    {.names = kFiles, .measure = file_rates},
    {.names = kHost, .measure = host_memory_rate},
});

}  // namespace

std::span<const Measurement> measurements() { return kMeasurements; }

double seconds_since(std::chrono::steady_clock::time_point begin) {
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
  return std::max(passed.count(), 1e-9);
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto upper = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, upper);
  if (values.size() % 2 == 1) return *upper;
  return (*std::ranges::max_element(values.begin(), upper) + *upper) / 2;
}

}  // namespace stepscope::doctor
