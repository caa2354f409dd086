#include "doctor/doctor.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cli/command.h"
#include "cli/open_run.h"
#include "cli/options/analysis_options.h"
#include "cli/options/arguments.h"
#include "cli/options/settings.h"
#include "cli/output/doctor_output.h"
#include "cli/terminal/console.h"
#include "cli/terminal/interrupt.h"
#include "session/machine.h"
#include "session/user_files/peaks_file.h"

namespace stepscope::cli {
namespace {

constexpr std::array kDoctorOptions = std::to_array<Option>({
    {.name = "bench", .help = "also measure what the machine can do; takes about half a minute"},
    {.name = "json", .help = "print JSON (schema stepscope.doctor/1) instead of text"},
    {.name = "expect",
     .value = "LIST",
     .help = "what --bench must reach: copy-pinned=20,gemm-bf16=70% (of the device's peak)"},
    {.name = "python",
     .value = "FILE",
     .help = "the interpreter that trains (default: python3 on PATH)",
     .completes = Completes::kFiles},
    {.name = "folder",
     .value = "FOLDER",
     .help = "whose disk is looked at and, with --bench, read from (default: this one)",
     .completes = Completes::kFolders},
    {.name = "time-limit",
     .value = "SECONDS",
     .help = "for each part (default: 15; 120 to import torch and for a measurement)"},
    kPeaksOption,
    kWidthOption,
    {.name = "test-root", .value = "FOLDER", .listed = false},
    {.name = "test-libraries", .value = "FOLDER", .listed = false},
});

base::Result<doctor::Place> doctor_place_from(const Arguments& arguments, unsigned usable_cpus) {
  session::MachineView machine;
  machine.root = arguments.text("test-root");
  doctor::Place place;
  place.root = machine.root;
  place.library_folder = arguments.text("test-libraries");
  place.python = arguments.text("python");
  if (arguments.has("folder")) place.folder = arguments.text("folder");
  place.quota_cpus = session::quota_cpus(machine);
  place.limit_memory_bytes = session::memory_limit(machine);
  place.free_memory_bytes = session::available_memory(machine);
  place.usable_cpus = usable_cpus;
  std::vector<analysis::OwnPeaks> own;
  if (arguments.has("peaks")) {
    SCOPE_TRY(own, session::read_peaks(arguments.text("peaks")));
  }
  place.bf16_peak = [own](const doctor::DeviceFacts& facts) -> std::optional<double> {
    const analysis::FoundPeaks found =
        analysis::find_peaks({.name = facts.name,
                              .memory_bytes = facts.memory_bytes,
                              .compute_major = facts.compute_major,
                              .compute_minor = facts.compute_minor,
                              .multiprocessors = facts.multiprocessors},
                             own);
    const double flops = found.peaks ? found.peaks->matrix_flops(analysis::Arithmetic::kBf16) : 0;
    return flops > 0 ? std::optional(flops) : std::nullopt;
  };
  return place;
}

base::Result<doctor::Examination> examination_from(const Context& context) {
  const Arguments& arguments = context.arguments;
  doctor::Examination examination;
  if (!arguments.words().empty()) {
    return base::fail(base::Code::kInvalidArgument,
                      fmt::format("'{}': doctor looks at this machine and takes no files",
                                  arguments.words().front()));
  }
  examination.bench = arguments.has("bench");
  examination.stop = context.interrupt.stop_flag();
  if (arguments.has("expect")) {
    if (!examination.bench) {
      return base::fail(base::Code::kInvalidArgument, "--expect needs --bench");
    }
    auto expected = doctor::parse_expectations(arguments.text("expect"));
    if (!expected) {
      return base::fail(base::Code::kInvalidArgument,
                        arguments.origin("expect") + ": " + expected.error().message);
    }
    examination.expected = *std::move(expected);
  }
  if (arguments.has("time-limit")) {
    SCOPE_TRY(const std::uint64_t seconds, count_from(arguments, "time-limit"));
    if (seconds == 0 || seconds > 3600) {
      return base::fail(base::Code::kInvalidArgument, "--time-limit is 1 to 3600 seconds");
    }
    examination.limit = std::chrono::seconds(seconds);
  }
  SCOPE_TRY(examination.place, doctor_place_from(arguments, context.settings.jobs));
  return examination;
}

Exit run_doctor(const Context& context) {
  const auto examination = examination_from(context);
  if (!examination) return show_error(context, examination.error());
  const auto look = look_from(context);
  if (!look) return show_error(context, look.error());
  const std::vector<doctor::Check> checks = doctor::examine(*examination);
  if (context.interrupt.stopped()) {
    return show_error(context, {base::Code::kCancelled, "stopped"});
  }
  const base::Status written = context.console.write(
      context.arguments.has("json") ? doctor_json(checks) : doctor_text(checks, *look));
  if (!written) return show_error(context, written.error());
  const std::vector<std::string_view> names = doctor::measurement_names();
  std::vector<std::string> failed;
  for (const doctor::Check& check : checks) {
    const bool measured = std::ranges::find(names, check.name) != names.end();
    if (measured && check.state == doctor::State::kBad) failed.push_back(check.name);
  }
  if (failed.empty()) return Exit::kDone;
  context.console.error(fmt::format("not as expected: {}", fmt::join(failed, ", ")));
  return Exit::kCheckFailed;
}

}  // namespace

const Command kDoctor{
    .name = "doctor",
    .summary =
        "what this machine has and lacks for profiling, and whether it is as fast as it "
        "should be",
    .arguments = "",
    .text =
        R"(Looks at drivers, profiling libraries and permissions, CPUs and memory of the job, clocks,
disk, shared memory, limits, and the interpreter's torch. Each is good, missing, bad or
unknown; for what is not well it says what that means and what to do.

With --bench it also measures copies to the device, a bf16 matrix product against the
device's peak, reading a file and the host's memory. A measurement that is not as expected
makes the exit status 1. Every part has a time limit: a driver that hangs is said, not waited for.
)",
    .options = kDoctorOptions,
    .examples = R"(  stepscope doctor
  stepscope doctor --bench --expect copy-pinned=20,gemm-bf16=70%
  stepscope doctor --python ~/env/bin/python --folder /scratch
  stepscope doctor --json | jq -r '.checks[] | select(.state == "bad") | .to_do'
)",
    .completes = Completes::kNothing,
    .run = run_doctor,
};

}  // namespace stepscope::cli
