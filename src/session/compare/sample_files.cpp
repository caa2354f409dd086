// Baseline files and files of step times. Both are JSON and small; whatever is wrong with one is
// said with its line.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include <fmt/format.h>

#include "session/compare/compare.h"

namespace stepscope::session {
namespace {

using analysis::RunSamples;
using analysis::Sample;
using analysis::StepKind;
using base::Code;
using base::fail;
using nlohmann::json;

constexpr std::string_view kBaseline = "stepscope.baseline/1";

// How a key says that it is a step time, and its unit.
struct TimeKey {
  std::string_view ending;
  double ns;
};
constexpr TimeKey kUnits[] = {{"_ns", 1}, {"_us", 1e3}, {"_ms", 1e6}, {"_s", 1e9}, {"", 0}};
constexpr std::string_view kSampleFilesKeys[] = {"step_time", "step_duration", "duration", "time",
                                                 "step"};

// The step time of a line of a log; nothing where no key says it.
std::optional<double> time_in(const json& line, double unit_ns) {
  for (const std::string_view key : kSampleFilesKeys) {
    for (const TimeKey& unit : kUnits) {
      if (key == "step" && unit.ns == 0) continue;  // that is its number
      const auto found = line.find(std::string(key) + std::string(unit.ending));
      if (found == line.end() || !found->is_number()) continue;
      return found->get<double>() * (unit.ns == 0 ? unit_ns : unit.ns);
    }
  }
  return std::nullopt;
}

bool is_numbers(const json& value) {
  return value.is_array() && !value.empty() &&
         std::ranges::all_of(value, [](const json& one) { return one.is_number(); });
}

bool is_step_line(const json& value) {
  return value.is_number() || is_numbers(value) || (value.is_object() && time_in(value, 1));
}

// NaN and Infinity, which Python writes and JSON does not know, made numbers.
std::string with_numbers(std::string line) {
  for (const std::string_view word : {"-Infinity", "Infinity", "NaN"}) {
    for (std::size_t at = line.find(word); at != std::string::npos; at = line.find(word, at)) {
      line.replace(at, word.size(), "0");
    }
  }
  return line;
}

base::Status check_time(const std::string& where, double time) {
  constexpr double kLongest = 1e18;  // ns, thirty years: what is more is no step
  if (!(time > 0)) return fail(Code::kFormat, fmt::format("{}: a step takes longer than 0", where));
  if (time <= kLongest) return base::Done{};
  return fail(Code::kFormat,
              fmt::format("{}: a step of more than thirty years; is --unit right?", where));
}

// A line is a run (a list) or a step (a number, or an object that names its time).
base::Result<std::vector<RunSamples>> read_steps(const std::string& path, std::istream& file,
                                                 double unit_ns) {
  std::vector<RunSamples> runs;
  std::vector<double> steps;
  std::string line;
  for (std::size_t number = 1; std::getline(file, line); ++number) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    const std::string where = fmt::format("{}:{}", path, number);
    const json value = json::parse(line, nullptr, false);
    if (value.is_discarded() && is_step_line(json::parse(with_numbers(line), nullptr, false))) {
      return fail(Code::kFormat, where + ": a step time that is no number: NaN or Infinity");
    }
    if (value.is_discarded()) return fail(Code::kFormat, where + ": this is not JSON");
    if (!is_step_line(value)) {
      return fail(Code::kFormat, where +
                                     ": no step time; expected a number, a list of numbers, or an "
                                     "object with step_time_ms or the like");
    }
    if (value.is_array()) {
      std::vector<double> run;
      for (const json& one : value) {
        run.push_back(one.get<double>() * unit_ns);
        SCOPE_TRY(check_time(where, run.back()));
      }
      runs.push_back(samples_of_steps(where, run));
    } else {
      steps.push_back(value.is_number() ? value.get<double>() * unit_ns : *time_in(value, unit_ns));
      SCOPE_TRY(check_time(where, steps.back()));
    }
  }
  if (!steps.empty()) runs.push_back(samples_of_steps(path, steps));
  if (runs.empty()) return fail(Code::kFormat, path + ": no step times in it");
  return runs;
}

// Files of earlier versions do not say it.
StepKind kind_in(const json& sample) {
  const auto found = sample.find("steps");
  for (const StepKind kind : {StepKind::kUntraced, StepKind::kTraced}) {
    if (found != sample.end() && found->is_string() && *found == name_of(kind)) return kind;
  }
  return StepKind::kUntold;
}

std::optional<std::int64_t> rank_in(const json& sample) {
  const auto found = sample.find("rank");
  if (found == sample.end() || !found->is_number_integer()) return std::nullopt;
  return found->get<std::int64_t>();
}

base::Result<std::vector<RunSamples>> read_baseline(const std::string& path, const json& root) {
  const auto wrong = [&](std::string_view what) {
    return fail(Code::kFormat,
                fmt::format("{}: not a baseline file that this program can read: {}", path, what));
  };
  const auto list = root.find("runs");
  if (list == root.end() || !list->is_array() || list->empty()) return wrong("it has no 'runs'");
  std::vector<RunSamples> runs;
  for (const json& run : *list) {
    if (!run.is_object() || !run.contains("samples") || !run["samples"].is_object()) {
      return wrong("a run has no 'samples'");
    }
    RunSamples out{.name = path, .samples = {}};
    if (run.contains("name") && run["name"].is_string()) out.name = run["name"].get<std::string>();
    if (run.contains("warmup_steps") && run["warmup_steps"].is_number_unsigned()) {
      out.warmup = run["warmup_steps"].get<std::size_t>();
    }
    if (run.contains("window_steps") && run["window_steps"].is_number_unsigned()) {
      out.in_windows = run["window_steps"].get<std::size_t>();
    }
    for (const auto& [name, sample] : run["samples"].items()) {
      const bool good = sample.is_object() && sample.contains("values") &&
                        is_numbers(sample["values"]) && sample.contains("per_step") &&
                        sample["per_step"].is_boolean();
      if (!good) return wrong(fmt::format("'{}' has no 'values'", name));
      out.samples[name] = {.values = sample["values"].get<std::vector<double>>(),
                           .per_step = sample["per_step"].get<bool>(),
                           .kind = kind_in(sample),
                           .rank = rank_in(sample)};
    }
    runs.push_back(std::move(out));
  }
  return runs;
}

}  // namespace

std::string baseline_json(std::span<const RunSamples> runs) {
  // Compact: a line per quantity, so that a change of the file can be read.
  std::string out = fmt::format("{{\"schema\": \"{}\",\n \"runs\": [", kBaseline);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    out += fmt::format(
        "{}\n  {{\"name\": {}, \"warmup_steps\": {}, {}\"samples\": {{", i == 0 ? "" : ",",
        json(runs[i].name).dump(-1, ' ', true, json::error_handler_t::replace), runs[i].warmup,
        runs[i].in_windows > 0 ? fmt::format("\"window_steps\": {}, ", runs[i].in_windows) : "");
    bool first = true;
    for (const auto& [name, sample] : runs[i].samples) {
      std::string kind = sample.kind == StepKind::kUntold
                             ? std::string()
                             : fmt::format(", \"steps\": \"{}\"", name_of(sample.kind));
      if (sample.rank) kind += fmt::format(", \"rank\": {}", *sample.rank);
      out += fmt::format("{}\n   {}: {{\"per_step\": {}{}, \"values\": [{}]}}", first ? "" : ",",
                         json(name).dump(-1, ' ', true, json::error_handler_t::replace),
                         sample.per_step, kind, fmt::join(sample.values, ", "));
      first = false;
    }
    out += "}}";
  }
  return out + "\n]}\n";
}

base::Result<std::optional<std::vector<RunSamples>>> read_samples(const std::string& path,
                                                                  double unit_ns) {
  using Found = std::optional<std::vector<RunSamples>>;
  constexpr std::size_t kHead = 1 << 16;
  constexpr std::size_t kMost = std::size_t{64} << 20;
  std::ifstream file(path, std::ios::binary);
  std::string head(kHead, '\0');
  if (!file) return Found();
  file.read(head.data(), static_cast<std::streamsize>(kHead));
  head.resize(static_cast<std::size_t>(std::max<std::streamsize>(0, file.gcount())));
  file.clear();
  file.seekg(0, std::ios::end);
  const std::streamoff size = file.tellg();
  file.seekg(0);
  if (size <= 0 || static_cast<std::size_t>(size) > kMost) return Found();
  if (head.find(kBaseline) < 200) {
    const json root = json::parse(file, nullptr, false);
    if (root.is_discarded() || !root.is_object()) {
      return fail(Code::kFormat, path + ": a baseline file, but cut or not JSON");
    }
    SCOPE_TRY(auto runs, read_baseline(path, root));
    return Found(std::move(runs));
  }
  // A trace in one line is not parsed for nothing: lists of numbers may be long, objects are not.
  const std::size_t at = head.find_first_not_of(" \t\r\n[");
  if (at == std::string::npos) return Found();
  std::string first = head.substr(0, head.find('\n', at));
  if (head[at] != '{' && std::getline(file >> std::ws, first)) file.seekg(0);
  if (!is_step_line(json::parse(with_numbers(first), nullptr, false))) return Found();
  SCOPE_TRY(auto runs, read_steps(path, file, unit_ns));
  return Found(std::move(runs));
}

}  // namespace stepscope::session
