#include "analysis/steps/tensorflow_parts.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "analysis/arithmetic/number_width.h"
#include "analysis/arithmetic/share_out.h"
#include "analysis/arithmetic/union_of_runs.h"
#include "analysis/device/copies.h"
#include "analysis/host/host_time.h"
#include "analysis/name_sign.h"

namespace stepscope::analysis {
namespace {

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
    if (has_work || launch_names.of(row)) return kLaunch;
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

}  // namespace

bool names_compilation(std::string_view range) {
  constexpr std::array<std::string_view, 8> kParts = {
      "(dynamo_timed)", "ModuleLoad",     "LibraryLoadData",  "nvrtcCompile",
      "hiprtcCompile",  "Module Loading", "Function Loading", "zeModuleCreate"};
  return std::ranges::any_of(kParts,
                             [&](auto part) { return range.find(part) != std::string_view::npos; });
}

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

}  // namespace stepscope::analysis
