// The steps in the categories of TensorFlow's profiler, for people who come from there.
#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/arithmetic/intervals.h"
#include "analysis/arithmetic/share_out.h"
#include "analysis/device/copies.h"
#include "analysis/host/host_time.h"
#include "analysis/key_columns.h"
#include "analysis/name_sign.h"
#include "analysis/registry.h"
#include "analysis/steps/step_times.h"
#include "analysis/view.h"

namespace stepscope::analysis {
namespace {

// The time of each step in the categories of TensorFlow's profiler: device first, then what the
// host did while no device worked, by the priorities of its step-time graph. Which event counts as
// what: docs/metrics/steps-tensorflow.md.

constexpr std::size_t kTensorflowPartCount = 11;
// As TensorFlow's profiler lists them, with a third kind of computing: number width unknown.
constexpr std::array<std::string_view, kTensorflowPartCount> kTensorflowPartNames = {
    "compute_16bit", "compute_32bit", "compute_unknown", "device_to_device", "collectives",
    "host_compute",  "kernel_launch", "input",           "output",           "compilation",
    "other"};
using TensorflowParts = std::array<base::Nanos, kTensorflowPartCount>;  // add up to the step

struct TensorflowStep {
  StepTime step;
  TensorflowParts parts{};
};

using trace::Kind;
using trace::Row;

enum Part : std::uint8_t {
  kCompute16,
  kCompute32,
  kComputeUnknown,
  kDeviceToDevice,
  kCollectives,
  kHostCompute,
  kKernelLaunch,
  kInput,
  kOutput,
  kCompilation,
  kOther,
};

// By priority. Two of them are input: waiting for data comes before collectives and launches,
// copies to the device after them.
enum TensorflowPartsClass : std::uint8_t {
  kNarrow,
  kWide,
  kUnsaid,
  kFromDevice,
  kOnDevice,
  kWaitForInput,
  kCollective,
  kLaunch,
  kToDevice,
  kCompile,
  kHost,
  kClassCount,
};
constexpr std::array<Part, kClassCount + 1> kPartOf = {
    kCompute16,   kCompute32,    kComputeUnknown, kOutput,      kDeviceToDevice, kInput,
    kCollectives, kKernelLaunch, kInput,          kCompilation, kHostCompute,    kOther};

// A call or range that compiles or loads code: inductor's phases, module loading.
bool names_compilation(std::string_view range) {
  constexpr std::array<std::string_view, 8> kParts = {
      "(dynamo_timed)", "ModuleLoad",     "LibraryLoadData",  "nvrtcCompile",
      "hiprtcCompile",  "Module Loading", "Function Loading", "zeModuleCreate"};
  return std::ranges::any_of(kParts,
                             [&](auto part) { return range.find(part) != std::string_view::npos; });
}

// Classes by name, each name examined once.
class TensorflowPartsNames {
 public:
  explicit TensorflowPartsNames(const trace::Trace& trace)
      : trace_(trace), kernel_(trace.strings().size()), copy_(kernel_), compile_(kernel_) {}

  TensorflowPartsClass kernel(Row row) {
    return remembered(kernel_, row, [](std::string_view name) {
      switch (number_width(name)) {
        case NumberWidth::kNarrow:
          return kNarrow;
        case NumberWidth::kWide:
          return kWide;
        case NumberWidth::kUnsaid:
          break;
      }
      return kUnsaid;
    });
  }
  TensorflowPartsClass copy(Row row) {
    return remembered(copy_, row, [](std::string_view name) {
      const std::string_view kind = copy_name(name).kind;
      if (kind == "HtoH") return kHost;
      if (!crosses_the_bus(kind)) return kOnDevice;
      return kind.front() == 'H' ? kToDevice : kFromDevice;
    });
  }
  bool compiles(Row row) {
    return remembered(compile_, row, [](std::string_view name) {
             return names_compilation(name) ? kCompile : kHost;
           }) == kCompile;
  }

 private:
  template <class Find>
  TensorflowPartsClass remembered(std::vector<std::uint8_t>& memory, Row row, Find find) {
    const base::StringId name = trace_.name()[row];
    if (name == base::kNoString) return find({});
    if (memory[name] == 0) memory[name] = static_cast<std::uint8_t>(find(trace_.text(name)) + 1);
    return static_cast<TensorflowPartsClass>(memory[name] - 1);
  }

  const trace::Trace& trace_;
  std::vector<std::uint8_t> kernel_, copy_, compile_;  // 0: not asked yet, else the class + 1
};

// Calls that hand work to the device. Where the device was not recorded, the name says it.
bool names_launch(std::string_view call) {
  return call.find("Launch") != std::string_view::npos ||
         call.find("Memcpy") != std::string_view::npos ||
         call.find("Memset") != std::string_view::npos;
}

// One set per class, from events that come by thread or device.
class TensorflowPartsSets {
 public:
  void begin_run() {
    for (UnionOfRuns& set : sets_) set.begin_run();
  }
  void add(TensorflowPartsClass one, base::Nanos start, base::Nanos end) {
    sets_[one].add(start, end);
  }
  void add(TensorflowPartsClass one, const Intervals& set) { sets_[one].add_run(set); }
  std::vector<Intervals> take() {
    std::vector<Intervals> out;
    out.reserve(sets_.size());
    for (UnionOfRuns& set : sets_) out.push_back(set.take());
    return out;
  }

 private:
  std::array<UnionOfRuns, kClassCount> sets_;
};

void add_tensorflow_parts_device(const WindowView& window, TensorflowPartsNames& names,
                                 TensorflowPartsSets& sets) {
  for (const DeviceView& device : window.devices) {
    sets.begin_run();
    for (const Work& piece : window.work_of(device)) {
      TensorflowPartsClass one = kOnDevice;  // memsets
      if (piece.work_class == WorkClass::kCommunication) one = kCollective;
      if (piece.work_class == WorkClass::kCompute) one = names.kernel(piece.row);
      if (piece.work_class == WorkClass::kCopy) one = names.copy(piece.row);
      sets.add(one, piece.start, piece.end);
    }
  }
}

// Which of launching and compiling this host span is. All other ranges and calls compute.
std::optional<TensorflowPartsClass> host_class(const trace::Trace& trace,
                                               TensorflowPartsNames& names, NameSign& launch_names,
                                               Row row) {
  const Kind kind = trace.kind()[row];
  if (kind == Kind::kOverhead) return names.compiles(row) ? std::optional(kCompile) : std::nullopt;
  if (is_api_call(kind)) {
    const std::uint32_t entry = trace.launches().rows.find(row);
    const bool has_work = entry != base::RowSet::kNone && !trace.launches().work_of(entry).empty();
    if (has_work || launch_names.matches_row(row)) return kLaunch;
    return names.compiles(row) ? kCompile : kHost;
  }
  if (kind != Kind::kCpuOp && kind != Kind::kAnnotation) return std::nullopt;
  return names.compiles(row) ? std::optional(kCompile) : std::nullopt;
}

void add_tensorflow_parts_host(const WindowView& window, TensorflowPartsNames& names,
                               TensorflowPartsSets& sets) {
  const trace::Trace& trace = *window.trace;
  const HostTime& host = host_time(window);
  sets.add(kWaitForInput, host.loading);
  sets.add(kCollective, host.communication);
  sets.add(kHost, host.operators);
  NameSign launch_names(trace, names_launch);
  for (const trace::Track& track : trace.tracks()) {
    sets.begin_run();
    for (Row row = track.begin; row < track.end; ++row) {
      if (trace.phase()[row] != trace::Phase::kSpan) continue;
      if ((trace.flags()[row] & trace::kFarTime) != 0) continue;
      const auto one = host_class(trace, names, launch_names, row);
      if (one) sets.add(*one, trace.start()[row], trace.end(row));
    }
  }
}

// The selected steps of a window, by start.
std::vector<TensorflowStep> tensorflow_parts(const WindowView& window) {
  TensorflowPartsNames names(*window.trace);
  TensorflowPartsSets sets;
  add_tensorflow_parts_device(window, names, sets);
  add_tensorflow_parts_host(window, names, sets);
  std::vector<TensorflowStep> out;
  std::vector<Interval> spans;
  for (const StepTime& step : window.steps) {
    if (!step.selected) continue;
    out.push_back({.step = step});
    spans.push_back(step.span);
  }
  const std::vector<Intervals> roles = sets.take();
  const std::vector<std::span<const Interval>> by_priority(roles.begin(), roles.end());
  const std::vector<std::vector<base::Nanos>> lengths = share_out(by_priority, spans);
  for (std::size_t s = 0; s < out.size(); ++s) {
    for (std::size_t i = 0; i < lengths[s].size(); ++i) out[s].parts[kPartOf[i]] += lengths[s][i];
  }
  return out;
}

using base::Nanos;
using base::Type;
using base::Unit;

constexpr std::array kStepsTensorflowPartColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    {"part", Type::kText, Unit::kNone, "as in the table of steps"},
    {"mean_ns", Type::kReal, Unit::kNanos, "per step"},
    {"share", Type::kReal, Unit::kShare, "of the time of all steps"},
    {"sum_ns", Type::kInt, Unit::kNanos, "all steps together"},
});

constexpr std::array kStepsTensorflowStepColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    key::kWindow,
    key::kStep,
    {"step_ns", Type::kInt, Unit::kNanos,
     "wall time of the step, until the GPU work it started has ended"},
    {"compute_16bit_ns", Type::kInt, Unit::kNanos,
     "a kernel on numbers of 16 bits or fewer runs, as far as its name says"},
    {"compute_32bit_ns", Type::kInt, Unit::kNanos, "else, a kernel on wider numbers runs"},
    {"compute_unknown_ns", Type::kInt, Unit::kNanos,
     "else, a kernel runs whose name does not say what it computes with"},
    {"device_to_device_ns", Type::kInt, Unit::kNanos,
     "else, memory is copied or set on or between GPUs"},
    {"collectives_ns", Type::kInt, Unit::kNanos, "else, ranks communicate"},
    {"host_compute_ns", Type::kInt, Unit::kNanos,
     "no GPU works and the host runs operators, ranges or other calls"},
    {"kernel_launch_ns", Type::kInt, Unit::kNanos,
     "no GPU works and the host hands it something to do"},
    {"input_ns", Type::kInt, Unit::kNanos,
     "the host waits for data, or data is copied to a GPU that does nothing else"},
    {"output_ns", Type::kInt, Unit::kNanos,
     "results are copied to the host and the GPU does not compute"},
    {"compilation_ns", Type::kInt, Unit::kNanos, "the host compiles or loads code"},
    {"other_ns", Type::kInt, Unit::kNanos, "none of these: what happened was not recorded"},
});

constexpr std::array<std::string_view, kTensorflowPartCount> kStepsTensorflowStacked = {
    "compute_16bit_ns",    "compute_32bit_ns", "compute_unknown_ns",
    "device_to_device_ns", "collectives_ns",   "host_compute_ns",
    "kernel_launch_ns",    "input_ns",         "output_ns",
    "compilation_ns",      "other_ns"};
constexpr std::array<std::string_view, 1> kStepsTensorflowMean = {"mean_ns"};
constexpr std::array kStepsTensorflowTables = std::to_array<base::TableShape>({
    {"parts",
     "one part of the average step of one rank",
     kStepsTensorflowPartColumns,
     {base::Chart::kBars, "part", kStepsTensorflowMean, "rank"}},
    {"steps",
     "one step of one rank",
     kStepsTensorflowStepColumns,
     {base::Chart::kStack, "step", kStepsTensorflowStacked, "rank"}},
});

struct RankSum {
  std::int32_t rank = 0;
  std::size_t steps = 0;
  Nanos whole = 0;
  TensorflowParts parts{};
};

void add_steps_tensorflow_parts(base::Table& table, const RankSum& sum) {
  for (std::size_t part = 0; part < kTensorflowPartCount; ++part) {
    const auto length = static_cast<double>(sum.parts[part]);
    table.add({sum.rank, kTensorflowPartNames[part], length / static_cast<double>(sum.steps),
               length / static_cast<double>(sum.whole), sum.parts[part]});
  }
}

Answer run_steps_tensorflow(const RunView& view, const Options&) {
  const auto partials = per_window<std::vector<TensorflowStep>>(view, tensorflow_parts);
  base::Table parts(kStepsTensorflowTables[0]);
  base::Table steps(kStepsTensorflowTables[1]);
  std::vector<RankSum> sums;
  for (std::size_t w = 0; w < partials.size(); ++w) {
    const WindowView& window = view.windows[w];
    if (partials[w].empty()) continue;
    if (sums.empty() || sums.back().rank != window.rank) sums.emplace_back().rank = window.rank;
    for (const TensorflowStep& one : partials[w]) {
      std::vector<base::Cell> row = {window.rank, window.window, one.step.number,
                                     one.step.span.length()};
      row.insert(row.end(), one.parts.begin(), one.parts.end());
      steps.add(row);
      sums.back().steps += 1;
      sums.back().whole += one.step.span.length();
      for (std::size_t i = 0; i < one.parts.size(); ++i) sums.back().parts[i] += one.parts[i];
    }
  }
  for (const RankSum& sum : sums) add_steps_tensorflow_parts(parts, sum);
  Answer answer;
  if (auto remark = why_no_steps(view); !remark.empty()) answer.remarks.push_back(remark);
  if (!view.has_device_work()) answer.remarks.push_back(why_no_device_work(view));
  answer.tables.push_back(std::move(parts));
  answer.tables.push_back(std::move(steps));
  return answer;
}

}  // namespace

const Analysis kStepsTensorflow{
    .name = "steps-tensorflow",
    .title = "Step time as TensorFlow splits it",
    .question = "Where does the time of a step go, in the words of TensorFlow's profiler?",
    .parameters = {},
    .tables = kStepsTensorflowTables,
    .run = run_steps_tensorflow,
};

}  // namespace stepscope::analysis
