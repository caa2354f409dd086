// Where the doctor looks, and what the caller already knows: tests bring a root, libraries and an
// interpreter of their own.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace stepscope::doctor {

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

// What stands behind `key` and a colon on its line: "RmProfilingAdminOnly" -> "1".
std::optional<std::string> field_of(const std::string& text, const std::string& key);

std::optional<std::int64_t> whole_number(const std::string& text);

}  // namespace stepscope::doctor
