// The groups of checks. Each looks at one side of the machine and may be slow or crash in a driver:
// doctor.cpp runs them in processes of their own.
#pragma once

#include <chrono>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "doctor/check.h"

namespace stepscope::doctor {

std::vector<Check> nvidia_checks(const Place& place);     // driver, NVML, CUDA
std::vector<Check> cupti_checks(const Place& place);      // asked when packages are known
std::vector<Check> counter_checks(const Place& place);    // rights to read counters and to sample
std::vector<Check> amd_checks(const Place& place);        // device, rocprofiler
std::vector<Check> processor_checks(const Place& place);  // CPUs, memory, clock
std::vector<Check> storage_checks(const Place& place);    // disk, shared memory
std::vector<Check> limit_checks(const Place& place);      // ulimits

// What an interpreter says about itself and its torch, by key. Printed by interpreter_script().
using InterpreterFacts = std::multimap<std::string, std::string>;
std::string interpreter_script();
InterpreterFacts interpreter_facts(const std::string& printed);
// `sees_gpu`: whether the machine has anything that torch could see.
// `asked`: the interpreter that was named; empty: python3 on PATH.
std::vector<Check> interpreter_checks(const InterpreterFacts& facts, const std::string& complaint,
                                      bool sees_gpu, const std::string& asked = {});

// Pure judgements over figures, so that tests need no such machine.
Check disk_check(const std::string& file_system, std::uint64_t free_bytes, std::uint64_t all_bytes);
Check shared_memory_check(std::uint64_t free_bytes, std::uint64_t all_bytes);

// What the machine can do: rates that training lives on, each measured for about a second.

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
