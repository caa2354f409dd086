// The examination: every check of the machine, and with `bench` what it can do. Nothing hangs: each
// part runs in a process of its own with a time limit.
#pragma once

#include <atomic>
#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "doctor/check.h"

namespace stepscope::doctor {

struct Expectation {
  double value = 0;
  bool is_share = false;  // "70%": of what the device can do at best
};

struct Examination {
  Place place;
  bool bench = false;
  std::optional<std::chrono::milliseconds> limit = {};  // of each part; else as each part needs
  std::map<std::string, Expectation, std::less<>> expected = {};  // by name of the measurement
  const std::atomic<bool>* stop = nullptr;
};

// In a fixed order.
std::vector<Check> examine(const Examination& examination);

// Names that an expectation may have.
std::vector<std::string_view> measurement_names();

// "copy-pinned=20,gemm-bf16=70%"
base::Result<std::map<std::string, Expectation, std::less<>>> parse_expectations(
    const std::string& text);

// Good or bad by what is expected, or kMeasured where nothing is.
void judge(Check& check, const std::map<std::string, Expectation, std::less<>>& expected);

}  // namespace stepscope::doctor
