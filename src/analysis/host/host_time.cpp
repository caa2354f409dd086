// Sets of time in which the host did each kind of work, over all threads of a window.
#include "analysis/host/host_time.h"

#include <algorithm>
#include <array>

#include "analysis/arithmetic/intervals.h"
#include "analysis/device/classes.h"
#include "analysis/prepared.h"
#include "trace/step_names.h"

namespace stepscope::analysis {
namespace {

using trace::Kind;
using trace::Row;

constexpr std::array<std::string_view, 2> kTensorboardBackends = {"nccl:", "gloo:"};
constexpr std::array<std::string_view, 5> kTensorboardCollectives = {
    "broadcast", "reduce", "all_reduce", "all_gather", "reduce_scatter"};

enum class HostRules : std::uint8_t { kOurs, kTensorboard };

// Rows come by thread, each thread by start.
struct Roles {
  UnionOfRuns runtime, communication, loading, operators;
  void begin_thread() {
    for (UnionOfRuns* role : {&runtime, &communication, &loading, &operators}) role->begin_run();
  }
};

// What ranges of a name are, each name examined once.
class RangeNames {
 public:
  RangeNames(const trace::Trace& trace, HostRules rules)
      : trace_(&trace), rules_(rules), known_(trace.strings().size()) {}

  struct Is {
    bool communication, loading;
  };
  Is operator[](base::StringId name) {
    if (name == base::kNoString) return {};
    std::uint8_t& known = known_[name];
    if (known == 0) known = asked(trace_->text(name));
    return {(known & kCommunication) != 0, (known & kLoading) != 0};
  }

 private:
  static constexpr std::uint8_t kAsked = 1, kCommunication = 2, kLoading = 4;
  std::uint8_t asked(std::string_view name) const {
    const bool communicates = rules_ == HostRules::kOurs ? names_communication_call(name)
                                                         : is_tensorboard_communication(name);
    return static_cast<std::uint8_t>(kAsked | (communicates ? kCommunication : 0) |
                                     (names_data_loading(name) ? kLoading : 0));
  }

  const trace::Trace* trace_;
  HostRules rules_;
  std::vector<std::uint8_t> known_;  // by name
};

HostTime found_host_time(const WindowView& window, HostRules rules) {
  const trace::Trace& trace = *window.trace;
  const StepMarks marks(trace);
  RangeNames names(trace, rules);
  Roles roles;
  for (const trace::Track& track : trace.tracks()) {
    roles.begin_thread();
    for (Row row = track.begin; row < track.end; ++row) {
      const Kind kind = trace.kind()[row];
      const bool range = kind == Kind::kCpuOp || kind == Kind::kAnnotation;
      if (!range && !is_api_call(kind) && kind != Kind::kCollective) continue;
      if (trace.phase()[row] != trace::Phase::kSpan) continue;
      if ((trace.flags()[row] & trace::kFarTime) != 0) continue;
      const base::Nanos start = trace.start()[row];
      const base::Nanos end = trace.end(row);
      if (kind == Kind::kRuntime || (kind == Kind::kDriver && rules == HostRules::kOurs)) {
        roles.runtime.add(start, end);
      }
      if (kind == Kind::kCollective && rules == HostRules::kOurs) {
        roles.communication.add(start, end);
      }
      if (!range) continue;
      const RangeNames::Is is = names[trace.name()[row]];
      if (is.communication) roles.communication.add(start, end);
      if (is.loading) roles.loading.add(start, end);
      if (!marks.contains(row)) roles.operators.add(start, end);
    }
  }
  return {.runtime = roles.runtime.take(),
          .communication = roles.communication.take(),
          .loading = roles.loading.take(),
          .operators = roles.operators.take()};
}

}  // namespace

bool is_tensorboard_communication(std::string_view range) {
  for (const std::string_view backend : kTensorboardBackends) {
    if (!range.starts_with(backend)) continue;
    return std::ranges::find(kTensorboardCollectives, range.substr(backend.size())) !=
           kTensorboardCollectives.end();
  }
  return false;
}

StepMarks::StepMarks(const trace::Trace& trace) : trace_(&trace) {
  for (const trace::Step& step : trace.steps().list) {
    if (step.row == trace::kNoRow) continue;
    rows_.push_back(step.row);
    kinds_ |= std::uint64_t{1} << static_cast<unsigned>(trace.kind()[step.row]);
  }
  std::ranges::sort(rows_);
  named_.resize(trace.strings().size());
  for (std::size_t id = 0; id < named_.size(); ++id) {
    named_[id] = trace::names_a_step(trace.text(static_cast<base::StringId>(id))) ? 1 : 0;
  }
}

bool StepMarks::is_listed(Row row) const { return std::ranges::binary_search(rows_, row); }

const HostTime& host_time(const WindowView& window) {
  return window.prepared->host_time.get([&] { return found_host_time(window, HostRules::kOurs); });
}

HostTime tensorboard_host_time(const WindowView& window) {
  return found_host_time(window, HostRules::kTensorboard);
}

}  // namespace stepscope::analysis
