#include "analysis/compare/step_sums.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "analysis/operators/op_calls.h"
#include "analysis/operators/op_times.h"

namespace stepscope::analysis {
namespace {

// The chosen steps of a window by their index in it: which of them is how manieth, or kNone.
constexpr std::size_t kStepSumsNone = static_cast<std::size_t>(-1);
std::vector<std::size_t> step_sums_places_of(const WindowView& window, std::size_t& count) {
  std::vector<std::size_t> places;
  places.reserve(window.steps.size());
  for (const StepTime& step : window.steps)
    places.push_back(step.selected ? count++ : kStepSumsNone);
  return places;
}

// By the number of the name: names are compared once per window, not once per event.
class ByNumber {
 public:
  explicit ByNumber(std::size_t steps) : steps_(steps) {}
  void add(base::StringId name, std::size_t place, base::Nanos time) {
    std::vector<double>& sums = sums_[name];
    sums.resize(steps_);
    sums[place] += static_cast<double>(time);
  }
  void give(const trace::Trace& trace, SumsByStep& out) const {
    for (const auto& [name, own] : sums_) {
      std::vector<double>& sums = out[std::string(trace.text(name))];
      sums.resize(steps_);
      std::ranges::transform(own, sums, sums.begin(), std::plus{});
    }
  }

 private:
  std::size_t steps_;
  std::unordered_map<base::StringId, std::vector<double>> sums_;
};

StepSums step_sums_of(const WindowView& window) {
  StepSums out;
  const std::vector<std::size_t> places = step_sums_places_of(window, out.steps);
  const OpCalls& ops = op_calls(window);
  const trace::Trace& trace = *window.trace;
  const auto place_of = [&](std::int32_t step) {
    return step < 0 ? kStepSumsNone : places[static_cast<std::size_t>(step)];
  };
  ByNumber kernels(out.steps);
  ByNumber on_device(out.steps);
  ByNumber on_host(out.steps);
  for (std::size_t i = 0; i < window.work.size(); ++i) {
    const Work& piece = window.work[i];
    const std::size_t place = place_of(piece.step);
    if (place == kStepSumsNone) continue;
    kernels.add(trace.name()[piece.row], place, piece.length());
    if (const std::uint32_t call = ops.of_work[i]; call != OpCall::kNone) {
      on_device.add(trace.name()[ops.calls[call].row], place, piece.length());
    } else {
      std::vector<double>& sums =
          out.operators_device[std::string(name_of(why_no_operator(window, piece)))];
      sums.resize(out.steps);
      sums[place] += static_cast<double>(piece.length());
    }
  }
  const OpHostTimes times = op_host_times(trace, ops);
  for (std::size_t call = 0; call < ops.calls.size(); ++call) {
    const trace::Row row = ops.calls[call].row;
    const std::size_t place = place_of(step_at(window.steps, trace.start()[row]));
    if (place != kStepSumsNone) on_host.add(trace.name()[row], place, times.self[call]);
  }
  kernels.give(trace, out.kernels);
  on_device.give(trace, out.operators_device);
  on_host.give(trace, out.operators_host);
  return out;
}

// The steps of a window behind those of the windows before it.
void append(StepSums& all, const StepSums& window) {
  const std::size_t steps = all.steps + window.steps;
  for (const auto sums :
       {&StepSums::kernels, &StepSums::operators_device, &StepSums::operators_host}) {
    for (const auto& [name, own] : window.*sums) {
      std::vector<double>& list = (all.*sums)[name];
      list.resize(all.steps);
      list.insert(list.end(), own.begin(), own.end());
    }
    for (auto& [name, list] : all.*sums) list.resize(steps);
  }
  all.steps = steps;
}

}  // namespace

std::map<std::int64_t, StepSums> sums_by_step(const RunView& view) {
  const auto partials =
      per_window<StepSums>(view, [](const WindowView& window) { return step_sums_of(window); });
  std::map<std::int64_t, StepSums> ranks;
  for (std::size_t w = 0; w < partials.size(); ++w) {
    append(ranks[view.windows[w].rank], partials[w]);
  }
  return ranks;
}

}  // namespace stepscope::analysis
