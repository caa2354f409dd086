#include "cli/settings.h"

#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "session/machine.h"

namespace stepscope::cli {
namespace {

using base::Code;
using base::fail;

constexpr unsigned kMostJobs = 4096;
constexpr double kDefaultPart = 0.75;

struct SizeUnit {
  std::string_view name;
  double bytes;
};

constexpr std::array kSizeUnits = std::to_array<SizeUnit>({
    {"", 1},
    {"b", 1},
    {"k", 1024.0},
    {"kib", 1024.0},
    {"kb", 1e3},
    {"m", 1048576.0},
    {"mib", 1048576.0},
    {"mb", 1e6},
    {"g", 1073741824.0},
    {"gib", 1073741824.0},
    {"gb", 1e9},
    {"t", 1099511627776.0},
    {"tib", 1099511627776.0},
    {"tb", 1e12},
});

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

base::Result<unsigned> parse_jobs(const std::string& text, const std::string& origin) {
  unsigned jobs = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), jobs);
  if (error != std::errc() || end != text.data() + text.size() || jobs < 1 || jobs > kMostJobs) {
    return fail(
        Code::kInvalidArgument,
        fmt::format("{}: '{}' is not a number of threads from 1 to {}", origin, text, kMostJobs));
  }
  return jobs;
}

}  // namespace

base::Result<std::uint64_t> parse_size(std::string_view text, std::uint64_t whole) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const auto used = static_cast<std::size_t>(end - text.data());
  std::string unit = lower(text.substr(used));
  if (!unit.empty() && unit.front() == ' ') unit.erase(0, 1);
  if (error == std::errc() && std::isfinite(number) && number > 0) {
    if (unit == "%" && number <= 100) {
      return static_cast<std::uint64_t>(static_cast<double>(whole) * number / 100);
    }
    for (const SizeUnit& known : kSizeUnits) {
      if (unit == known.name && number * known.bytes >= 1 && number * known.bytes < 1e19) {
        return static_cast<std::uint64_t>(number * known.bytes);
      }
    }
  }
  return fail(Code::kInvalidArgument,
              fmt::format("'{}' is not a size such as 8G, 500M or 50%", text));
}

base::Result<Settings> settings_from(const Arguments& arguments, const Environment& environment) {
  Settings settings;
  session::MachineView machine;
  machine.slurm_cpus = environment("SLURM_CPUS_PER_TASK").value_or("");
  if (arguments.has("jobs")) {
    SCOPE_TRY(settings.jobs, parse_jobs(arguments.text("jobs"), arguments.origin("jobs")));
  } else {
    settings.jobs = session::usable_cpus(machine);
  }
  const std::optional<std::uint64_t> free = session::available_memory(machine);
  if (arguments.has("max-memory")) {
    base::Result<std::uint64_t> size =
        parse_size(arguments.text("max-memory"), free.value_or(settings.max_memory_bytes));
    if (!size) {
      return fail(Code::kInvalidArgument,
                  arguments.origin("max-memory") + ": " + size.error().message);
    }
    settings.max_memory_bytes = *size;
  } else if (free) {
    settings.max_memory_bytes =
        static_cast<std::uint64_t>(static_cast<double>(*free) * kDefaultPart);
  }
  settings.careful = arguments.has("careful");
  if (arguments.has("block-bytes")) {
    SCOPE_TRY(settings.block_bytes, parse_size(arguments.text("block-bytes"), 0));
  }
  const std::string colour = arguments.text("color");
  const bool no_colour = !environment("NO_COLOR").value_or("").empty();
  settings.colour = colour == "always"               ? Colour::kAlways
                    : colour == "never" || no_colour ? Colour::kNever
                                                     : Colour::kAuto;
  settings.quiet = arguments.has("quiet");
  settings.progress = !arguments.has("no-progress") && !settings.quiet;
  return settings;
}

}  // namespace stepscope::cli
