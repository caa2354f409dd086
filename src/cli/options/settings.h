// The general options, understood: what every command works with.
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

#include "base/result.h"
#include "cli/options/arguments.h"

namespace stepscope::cli {

enum class Colour : unsigned char { kAuto, kAlways, kNever };

struct Settings {
  unsigned jobs = 1;
  std::uint64_t max_memory_bytes = std::numeric_limits<std::uint64_t>::max();
  bool reference_reader = false;
  std::uint64_t block_bytes = 0;  // 0: as the importer likes
  Colour colour = Colour::kAuto;
  bool progress = true;
  bool quiet = false;
};

base::Result<Settings> settings_from(const Arguments& arguments, const Environment& environment);

// What base::parse_size knows, or "50%" of `whole`.
base::Result<std::uint64_t> size_from(std::string_view text, std::uint64_t whole);

}  // namespace stepscope::cli
