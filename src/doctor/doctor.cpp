// Runs all checks and measurements, each in a process of its own, in a fixed order.
#include "doctor/doctor.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "doctor/checks.h"
#include "doctor/subprocess.h"

namespace stepscope::doctor {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLook{15'000};     // at files and drivers
constexpr milliseconds kImport{120'000};  // torch from a cold file system
constexpr milliseconds kMeasure{120'000};

struct Group {
  const char* name;  // of the check that stands for all of them when they do not answer
  std::vector<Check> (*look)(const Place& place);
};

constexpr Group kFirst[] = {
    {"nvidia-driver", nvidia_checks}, {"counters", counter_checks}, {"amd-device", amd_checks},
    {"cpus", processor_checks},       {"disk", storage_checks},     {"open-files", limit_checks},
};
constexpr Group kCupti{"cupti", cupti_checks};

Subprocess process_of(const Group& group, const Examination& examination, milliseconds limit) {
  return {.work = [&group, &examination] { return encoded(group.look(examination.place)); },
          .limit = examination.limit.value_or(limit)};
}

// What a group said, or one check that says why it said nothing.
std::vector<Check> checks_of(const Returned& returned, const Subprocess& process,
                             const char* name) {
  std::vector<Check> checks = decoded(returned.text);
  const std::string trouble = complaint(returned, process);
  if (trouble.empty()) return checks;
  const bool late = returned.ending == Ending::kTooLate;
  checks.push_back(
      {.name = name,
       .state = State::kUnknown,
       .value = "looking at it " + trouble,
       .means = late ? "a driver or a file system hangs" : "a library of the driver does not work",
       .todo = "dmesg says what the kernel knows about it",
       .why = "training would meet the same"});
  return checks;
}

void append(std::vector<Check>& all, std::vector<Check> more) {
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

// Where no driver is there, of any maker, torch cannot be blamed.
bool sees_gpu(const std::vector<Check>& checks) {
  return std::ranges::any_of(checks, [](const Check& check) {
    const bool is_driver = check.name == "nvidia-driver" || check.name == "amd-device";
    return is_driver && check.state != State::kMissing;
  });
}

std::vector<std::string> programs(const Place& place) {
  if (!place.python.empty()) return {place.python};
  return {"python3", "python"};
}

}  // namespace

std::vector<Check> examine(const Examination& asked) {
  Examination examination = asked;
  std::vector<Subprocess> processes;
  for (const Group& group : kFirst) processes.push_back(process_of(group, examination, kLook));
  for (const std::string& program : programs(examination.place)) {
    processes.push_back({.program = {program, "-c", interpreter_script()},
                         .limit = examination.limit.value_or(kImport)});
  }
  const std::vector<Returned> returned = run_subprocesses(processes, examination.stop);

  // The first interpreter that is one; where none is, what the first one's trouble was.
  std::size_t chosen = std::size(kFirst);
  InterpreterFacts facts;
  for (std::size_t i = chosen; i < returned.size() && !facts.contains("version"); ++i) {
    facts = interpreter_facts(returned[i].text);
    if (facts.contains("version")) chosen = i;
  }
  for (auto [at, end] = facts.equal_range("folder"); at != end; ++at) {
    examination.place.package_folders.push_back(at->second);
  }
  const std::vector<Subprocess> later = {process_of(kCupti, examination, kLook)};
  const std::vector<Returned> cupti = run_subprocesses(later, examination.stop);

  std::vector<Check> checks;
  for (std::size_t i = 0; i < std::size(kFirst); ++i) {
    append(checks, checks_of(returned[i], processes[i], kFirst[i].name));
    if (i == 0) append(checks, checks_of(cupti.front(), later.front(), kCupti.name));
  }
  append(checks, interpreter_checks(facts, complaint(returned[chosen], processes[chosen]),
                                    sees_gpu(checks), examination.place.python));
  if (!examination.bench) return checks;

  // One after the other: they would slow each other down.
  for (const Measurement& measurement : measurements()) {
    const std::vector<Subprocess> one = {
        {.work = [&] { return encoded(measurement.measure(examination.place)); },
         .limit = examination.limit.value_or(kMeasure)}};
    const std::vector<Returned> result = run_subprocesses(one, examination.stop);
    std::vector<Check> measured = decoded(result.front().text);
    const std::string trouble = complaint(result.front(), one.front());
    for (const std::string_view name : measurement.names) {
      const auto same = [&](const Check& check) { return check.name == name; };
      if (trouble.empty() || std::ranges::any_of(measured, same)) continue;
      measured.push_back({.name = std::string(name),
                          .state = State::kBad,
                          .value = "the measurement " + trouble,
                          .why = "training would meet the same"});
    }
    for (Check& check : measured) judge(check, examination.expected);
    append(checks, std::move(measured));
  }
  return checks;
}

}  // namespace stepscope::doctor
