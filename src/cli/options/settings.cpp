// Reads the general options: threads, memory, colour, progress.
#include "cli/options/settings.h"

#include <charconv>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "base/number_text.h"
#include "base/size_text.h"
#include "session/machine.h"

namespace stepscope::cli {
namespace {

using base::Code;
using base::fail;

constexpr unsigned kMostJobs = 4096;
constexpr std::uint64_t kLeastMemory = 1024;  // below it the user meant gigabytes

base::Result<unsigned> parse_jobs(const std::string& text, const std::string& origin) {
  const auto jobs = base::parse_number<unsigned>(text);
  if (!jobs || *jobs < 1 || *jobs > kMostJobs) {
    return fail(
        Code::kInvalidArgument,
        fmt::format("{}: '{}' is not a number of threads from 1 to {}", origin, text, kMostJobs));
  }
  return *jobs;
}

}  // namespace

base::Result<std::uint64_t> size_from(std::string_view text, std::uint64_t whole) {
  if (const auto bytes = base::parse_size(text)) return static_cast<std::uint64_t>(*bytes);
  double part = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), part);
  const std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  if (error == std::errc() && (unit == "%" || unit == " %") && part > 0 && part <= 100) {
    return static_cast<std::uint64_t>(static_cast<double>(whole) * part / 100);
  }
  return fail(Code::kInvalidArgument,
              fmt::format("'{}' is not a size such as 8G, 500M or 50%", text));
}

base::Result<Settings> settings_from(const Arguments& arguments, const Environment& environment) {
  Settings settings;
  session::MachineView machine;
  machine.slurm_cpus = environment("SLURM_CPUS_PER_TASK").value_or("");
  if (arguments.has_option("jobs")) {
    SCOPE_TRY(settings.jobs, parse_jobs(arguments.text("jobs"), arguments.origin("jobs")));
  } else {
    settings.jobs = session::usable_cpus(machine);
  }
  const std::optional<std::uint64_t> free = session::available_memory(machine);
  if (arguments.has_option("max-memory")) {
    base::Result<std::uint64_t> size =
        size_from(arguments.text("max-memory"), free.value_or(settings.max_memory_bytes));
    if (!size) {
      return fail(Code::kInvalidArgument,
                  arguments.origin("max-memory") + ": " + size.error().message);
    }
    if (*size < kLeastMemory) {
      return fail(Code::kInvalidArgument,
                  fmt::format("{}: '{}' is a size of {} bytes; say its unit, as in 8G",
                              arguments.origin("max-memory"), arguments.text("max-memory"), *size));
    }
    settings.max_memory_bytes = *size;
  } else if (const auto memory = session::default_memory(machine)) {
    settings.max_memory_bytes = *memory;
  }
  settings.reference_reader = arguments.has_option("reference-reader");
  if (arguments.has_option("block-bytes")) {
    base::Result<std::uint64_t> size = size_from(arguments.text("block-bytes"), 0);
    if (!size) {
      return fail(Code::kInvalidArgument,
                  arguments.origin("block-bytes") + ": " + size.error().message);
    }
    settings.block_bytes = *size;
  }
  const std::string colour = arguments.text("color");
  const bool no_colour = !environment("NO_COLOR").value_or("").empty();
  settings.colour = colour == "always"               ? Colour::kAlways
                    : colour == "never" || no_colour ? Colour::kNever
                                                     : Colour::kAuto;
  settings.quiet = arguments.has_option("quiet");
  settings.progress = !arguments.has_option("no-progress") && !settings.quiet;
  return settings;
}

}  // namespace stepscope::cli
