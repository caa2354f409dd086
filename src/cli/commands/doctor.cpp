// `stepscope doctor`: examines the machine and prints each check as text or JSON.
#include "doctor/doctor.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cli/command.h"
#include "cli/open_run.h"
#include "cli/options/analysis_options.h"
#include "cli/options/arguments.h"
#include "cli/options/settings.h"
#include "cli/terminal/console.h"
#include "cli/terminal/interrupt.h"
#include "doctor/check.h"
#include "report/writing/json_writer.h"
#include "report/writing/numbers.h"
#include "report/writing/text_table.h"
#include "session/machine.h"
#include "session/user_files/user_files.h"

namespace stepscope::cli {

namespace {

// What the doctor found, for people and for programs.

// A line per check, then what to do about those that are not well.
std::string doctor_text(std::span<const doctor::Check> checks, const report::Look& look);

// Schema stepscope.doctor/1, described in docs/cli/doctor.md.
std::string doctor_json(std::span<const doctor::Check> checks);

using doctor::Check;
using doctor::State;
using report::Style;

Style style_of(State state) {
  switch (state) {
    case State::kGood:
      return Style::kGood;
    case State::kBad:
      return Style::kBad;
    case State::kMissing:
    case State::kUnknown:
      return Style::kWarning;
    case State::kMeasured:
      return Style::kPlain;
  }
  return Style::kPlain;
}

// Whether a person should read more than the line.
bool needs_words(const Check& check) {
  return check.state != State::kGood && check.state != State::kMeasured &&
         (!check.todo.empty() || !check.means.empty());
}

std::string paragraph(std::string_view title, std::string_view text, const report::Look& look) {
  constexpr std::size_t kIndent = 10;
  const std::size_t room = look.width > kIndent + 20 ? look.width - kIndent : 10'000;
  std::string lines;
  for (const std::string& line : report::wrapped(text, room)) {
    lines += fmt::format("  {:<{}}{}\n", lines.empty() ? title : "", kIndent - 2, line);
  }
  return lines;
}

std::string value_of(const Check& check) {
  if (!check.measured || !check.expected) return check.value;
  return fmt::format("{} (expected: at least {:.4g} {})", check.value, *check.expected, check.unit);
}

void put(report::JsonWriter& json, std::string_view key, const std::optional<double>& number) {
  json.key(key);
  if (number) {
    json.value(*number);
  } else {
    json.null();
  }
}

std::string doctor_text(std::span<const Check> checks, const report::Look& look) {
  report::TextTable table({{.title = ""}, {.title = ""}, {.title = "", .fit = report::Fit::kWrap}});
  for (const Check& check : checks) {
    table.add({report::Cell(std::string(name_of(check.state)), style_of(check.state)),
               report::Cell(check.name), report::Cell(value_of(check))});
  }
  std::string text = table.render(look);
  for (const Check& check : checks) {
    if (!needs_words(check)) continue;
    text +=
        fmt::format("\n{}: {}\n", report::styled(check.name, Style::kStrong, look), check.value);
    if (!check.means.empty()) text += paragraph("means", check.means, look);
    if (!check.why.empty()) text += paragraph("matters", check.why, look);
    if (!check.todo.empty()) text += paragraph("to do", check.todo, look);
  }
  const auto bad =
      static_cast<std::uint64_t>(std::ranges::count(checks, State::kBad, &Check::state));
  text += fmt::format("\n{} looked at, {} bad\n", report::counted(checks.size(), "thing"), bad);
  return text;
}

std::string doctor_json(std::span<const Check> checks) {
  report::JsonWriter json;
  json.begin_object();
  json.member("schema", "stepscope.doctor/1");
  json.key("checks");
  json.begin_list();
  for (const Check& check : checks) {
    json.begin_object();
    json.member("name", check.name);
    json.member("state", name_of(check.state));
    json.member("value", check.value);
    json.member("means", check.means);
    json.member("to_do", check.todo);
    json.member("matters", check.why);
    if (!check.unit.empty()) {
      json.member("unit", check.unit);
      put(json, "measured", check.measured);
      put(json, "expected", check.expected);
      put(json, "at_best", check.reference);
    }
    json.end_object();
  }
  json.end_list();
  json.end_object();
  return std::move(json).finish();
}

}  // namespace

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
  if (arguments.has_option("folder")) place.folder = arguments.text("folder");
  place.quota_cpus = session::quota_cpus(machine);
  place.limit_memory_bytes = session::memory_limit(machine);
  place.free_memory_bytes = session::available_memory(machine);
  place.usable_cpus = usable_cpus;
  std::vector<analysis::OwnPeaks> own;
  if (arguments.has_option("peaks")) {
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
  examination.bench = arguments.has_option("bench");
  examination.stop = context.interrupt.stop_flag();
  if (arguments.has_option("expect")) {
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
  if (arguments.has_option("time-limit")) {
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
      context.arguments.has_option("json") ? doctor_json(checks) : doctor_text(checks, *look));
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
