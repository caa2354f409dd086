// One answer about the machine: what was found, what it means, what to do and why it matters. Made
// in a process of its own (subprocess.h), so it also travels as text.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stepscope::doctor {

// Where the doctor looks, and what the caller already knows: tests bring a root, libraries and an
// interpreter of their own.

// A GPU as its driver describes it.
struct DeviceFacts {
  std::string name;
  std::int64_t memory_bytes = 0;
  std::int64_t compute_major = 0, compute_minor = 0;
  std::int64_t multiprocessors = 0;
};

struct Place {
  std::string root = {};            // stands before /proc, /sys and /dev
  std::string library_folder = {};  // where libraries are, instead of where the system looks
  std::string folder = ".";         // whose disk is looked at
  std::string python = {};          // the interpreter; empty: python3 on PATH, else python

  std::optional<unsigned> quota_cpus = {};               // of the enclosing cgroups
  std::optional<std::uint64_t> limit_memory_bytes = {};  // the same
  std::optional<std::uint64_t> free_memory_bytes = {};
  unsigned usable_cpus = 1;

  // FLOP/s in bf16 without sparsity; nothing where the device is not known.
  std::function<std::optional<double>(const DeviceFacts&)> bf16_peak = {};

  // Folders of libraries that the interpreter's packages brought; filled once it has been asked.
  std::vector<std::string> package_folders = {};
};

// The whole of a small file, as those of /proc; nothing where it cannot be read.
std::optional<std::string> text_of(const std::string& path);

// What follows `key` and a colon on its line: "RmProfilingAdminOnly" -> "1".
std::optional<std::string> field_of(const std::string& text, const std::string& key);

std::optional<std::int64_t> whole_number(const std::string& text);

enum class State : std::uint8_t {
  kGood,
  kMissing,
  kBad,
  kUnknown,
  kMeasured,  // a rate without a known target
};
std::string_view name_of(State state);

struct Check {
  std::string name = {};  // "cuda-driver": as in --expect and in JSON
  State state = State::kUnknown;
  std::string value = {};  // what was found, in a few words
  std::string means = {};  // what that means here; empty where the value says it
  std::string todo = {};   // a command or a setting; empty where there is nothing to do
  std::string why = {};    // why anybody should care

  // Of measurements only.
  std::optional<double> measured = {};
  std::optional<double> reference = {};       // what the device can do at best
  std::optional<double> expected = {};        // at least
  std::optional<double> expected_share = {};  // of the reference, by default
  std::string unit = {};                      // "GB/s"
};

// Nothing in a field survives that would end it: those two characters are replaced by spaces.
std::string encoded(std::span<const Check> checks);
std::vector<Check> decoded(std::string_view text);

// "64 MiB", "1.5 GiB".
std::string size_text(std::uint64_t bytes);

}  // namespace stepscope::doctor
