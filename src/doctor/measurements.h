// What the machine can do: rates that training lives on, each measured for about a second.
#pragma once

#include <chrono>
#include <span>
#include <string_view>
#include <vector>

#include "doctor/check.h"
#include "doctor/place.h"

namespace stepscope::doctor {

struct Measurement {
  std::span<const std::string_view> names;  // of the checks it gives
  std::vector<Check> (*measure)(const Place& place);
};
std::span<const Measurement> measurements();

std::vector<Check> copy_rates(const Place& place);  // host to device, pinned and pageable
std::vector<Check> gemm_rate(const Place& place);   // bf16, against the device's peak
std::vector<Check> file_rates(const Place& place);  // from disk and from the cache
std::vector<Check> host_memory_rate(const Place& place);

// Seconds since `begin`, never 0.
double seconds_since(std::chrono::steady_clock::time_point begin);
double median(std::vector<double> values);

}  // namespace stepscope::doctor
