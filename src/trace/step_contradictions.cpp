// What a recording says against steps that were guessed from a rhythm: the layers of one pass have
// a rhythm, too. Something that is done once holds several of them, a training lacks its backward
// pass in them, or each of them calls other modules. Where nothing is said, the guess stands.
#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>

#include "base/ascii.h"
#include "trace/step_finder.h"

namespace stepscope::trace {
namespace {

// Words of ranges that go round: such a one may hold many steps.
constexpr auto kLoops = std::to_array<std::string_view>(
    {"epoch",   "epochs",    "loop",       "fit",     "train",      "training", "trainer",
     "main",    "run",       "steps",      "batches", "iterations", "eval",     "evaluate",
     "val",     "validate",  "validation", "test",    "testing",    "bench",    "benchmark",
     "profile", "profiling", "profiler",   "measure", "timed",      "warmup",   "session"});
// Words of what is done once: they count more.
constexpr auto kOnce = std::to_array<std::string_view>(
    {"step", "batch", "iter", "iteration", "forward", "fwd", "backward", "bwd", "execute", "decode",
     "prefill", "infer", "inference", "model", "request"});
// Python's functions: any other may go round.
constexpr auto kOnceFunctions = std::to_array<std::string_view>(
    {"forward", "backward", "_call_impl", "_wrapped_call_impl", "step", "train_step",
     "training_step", "train_batch", "forward_step", "forward_backward", "execute_model",
     "model_forward", "_model_forward", "decode_step", "run_backward", "_engine_run_backward"});

constexpr std::string_view kModule = "nn.Module: ";
constexpr std::string_view kOptimizerStep = "Optimizer.step#";
constexpr std::string_view kBackward = "autograd::engine::evaluate_function: ";

template <class Words>
bool is_among(std::string_view word, const Words& words) {
  return std::ranges::find(words, word) != words.end();
}

// By the words of its name: letters in a row.
bool may_go_round(std::string_view name) {
  bool goes_round = false;
  for (std::size_t at = 0; at < name.size();) {
    std::size_t end = at;
    while (end < name.size() && base::is_letter(name[end])) ++end;
    const std::string word = base::lowered(name.substr(at, end - at));
    if (is_among(word, kOnce)) return false;
    goes_round |= is_among(word, kLoops);
    at = std::max(end, at + 1);
  }
  return goes_round;
}

// "torch/nn/modules/module.py(1779): _call_impl"
bool is_called_once(std::string_view frame) {
  if (frame.starts_with(kModule)) return true;
  const std::size_t colon = frame.rfind(": ");
  return colon != std::string_view::npos && is_among(frame.substr(colon + 2), kOnceFunctions);
}

class Evidence {
 public:
  Evidence(const Trace& trace, const std::vector<Step>& steps) : trace_(trace), steps_(steps) {}

  // Of the device's time there are only the copies of ranges there.
  bool contradicts(StepClock clock) {
    shortest_ = steps_.front().end - steps_.front().start;
    for (const Step& step : steps_) shortest_ = std::min(shortest_, step.end - step.start);
    for (const Track& track : trace_.tracks()) {
      if (track.is_device != (clock == StepClock::kDevice)) continue;
      for (Row row = track.begin; row < track.end; ++row) {
        if (trace_.phase()[row] == Phase::kSpan && is_against(row)) return true;
      }
    }
    return lacks(backward_) || lacks(optimizer_) || calls_others();
  }

 private:
  struct Seen {
    std::vector<bool> in;  // by step
    bool any = false;
  };

  bool is_against(Row row) {
    const Kind kind = trace_.kind()[row];
    const base::StringId name = trace_.name()[row];
    if (name == base::kNoString || (trace_.flags()[row] & kBadDuration) != 0) return false;
    switch (kind) {
      case Kind::kCpuOp:
      case Kind::kAnnotation: {
        const std::string_view text = trace_.text(name);
        if (kind == Kind::kCpuOp && text.starts_with(kBackward)) see(backward_, row);
        if (text.starts_with(kOptimizerStep)) see(optimizer_, row);
        return holds_several(row) && !may_go_round(text);
      }
      case Kind::kGpuAnnotation:
        return holds_several(row) && !may_go_round(trace_.text(name));
      case Kind::kPython:
        note_module(row);
        return holds_several(row) && is_called_once(trace_.text(name));
      default:
        return false;
    }
  }

  // Two of them or more, whole.
  bool holds_several(Row row) const {
    const base::Nanos start = trace_.start()[row];
    const base::Nanos end = trace_.end(row);
    if (end - start < 2 * shortest_) return false;
    const auto first = std::ranges::lower_bound(steps_, start, {}, &Step::start);
    return steps_.end() - first >= 2 && (first + 1)->end <= end;
  }

  // The step during which it begins, or as many as there are.
  std::size_t step_of(Row row) const {
    const base::Nanos start = trace_.start()[row];
    const auto after = std::ranges::upper_bound(steps_, start, {}, &Step::start);
    if (after == steps_.begin() || start >= (after - 1)->end) return steps_.size();
    return static_cast<std::size_t>(after - steps_.begin()) - 1;
  }

  void see(Seen& what, Row row) {
    what.any = true;
    if (what.in.empty()) what.in.resize(steps_.size());
    if (const std::size_t step = step_of(row); step < steps_.size()) what.in[step] = true;
  }

  // Every step of a training has it.
  static bool lacks(const Seen& what) {
    return what.any && std::ranges::find(what.in, false) != what.in.end();
  }

  void note_module(Row row) {
    if (!trace_.name_text(row).starts_with(kModule)) return;
    const std::size_t step = step_of(row);
    if (step == steps_.size()) return;
    const auto [module, is_new] = modules_.try_emplace(trace_.name()[row], Calls{step, false});
    if (!is_new) module->second.in_others |= module->second.step != step;
  }

  // A step calls the modules of the one before; a layer has its own.
  bool calls_others() const {
    std::vector<bool> calling(steps_.size());
    std::size_t again = 0;
    for (const auto& [name, calls] : modules_) {
      calling[calls.step] = true;
      again += calls.in_others ? 1 : 0;
    }
    return std::ranges::count(calling, true) >= 2 && 2 * again < modules_.size();
  }

  struct Calls {
    std::size_t step;
    bool in_others;
  };

  const Trace& trace_;
  const std::vector<Step>& steps_;
  base::Nanos shortest_ = 0;
  Seen backward_, optimizer_;
  std::map<base::StringId, Calls> modules_;
};

}  // namespace

bool are_contradicted(const Trace& trace, const std::vector<Step>& steps, StepClock clock) {
  return steps.size() >= 2 && Evidence(trace, steps).contradicts(clock);
}

}  // namespace stepscope::trace
