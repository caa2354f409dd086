// A finding is a claim with its evidence: what was measured against which threshold, where to look,
// what a step would gain, what to change and how to check it. Texts hold places for numbers, which
// report/ writes as people read them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/table.h"
#include "base/units.h"

namespace stepscope::advice {

// Names of operators as people say them: autograd's own are not for readers.

// "autograd::engine::evaluate_function: MulBackward0" is "backward of mul"; others stay.
std::string readable_name(std::string_view name);

// What a run would have to hold so that more can be said, and the words that record it in the way
// this run was recorded: torch's profiler, stepscope in the script, a callback, `stepscope run`.

enum class Recorder : std::uint8_t { kTorchProfiler, kProfile, kCallback, kRunCommand };

enum class Wanted : std::uint8_t {
  kDeviceWork,  // what the GPU did
  kWhole,       // the file to its end
  kTrace,       // a trace beside what processes recorded of themselves
  kSteps,       // more of them
  kShapes,
  kMemory,
  kStacks,
  kRanges,     // around a loader or an optimizer that PyTorch does not know
  kStepscope,  // its own recorder
  kSnapshot,
  kNothing,  // there is nothing to record: the program or the machine has none of it
};

// "shapes of inputs", the head of a list of rules.
std::string_view name_of(Wanted wanted);

// What to write in the script, or to type; empty where nothing helps.
std::string how_to_record(Wanted wanted, Recorder recorder);

// How the same is recorded once more: "stepscope run --out runs/new -- python train.py".
std::string_view how_to_record_again(Recorder recorder);
// What that makes, for commands: "runs/new".
std::string_view new_recording(Recorder recorder);

enum class Level : std::uint8_t { kInfo, kNotice, kWarning, kCritical };
std::string_view name_of(Level level);

enum class Confidence : std::uint8_t { kLow, kMedium, kHigh };
std::string_view name_of(Confidence confidence);

// A number with its unit, or a name of the recording: those may hold braces.
struct Figure {
  Figure(double number, base::Unit of) : value(number), unit(of) {}
  Figure(std::string_view name) : text(readable_name(name)) {}
  double value = 0;
  base::Unit unit = base::Unit::kNone;
  std::string text = {};
  bool is_kernel = false;  // a C++ name: people are shown what tells it apart, programs all of it
};
inline Figure kernel(std::string_view name) {
  Figure out(name);
  out.is_kernel = true;
  return out;
}
inline Figure share(double value) { return {value, base::Unit::kShare}; }
inline Figure nanos(double value) { return {value, base::Unit::kNanos}; }
inline Figure bytes(double value) { return {value, base::Unit::kBytes}; }
inline Figure count(double value) { return {value, base::Unit::kCount}; }

// "{} of each step": a figure for every pair of braces, in order.
struct Sentence {
  std::string form;
  std::vector<Figure> figures = {};
};

// What was measured, and what it was held against.
struct Measure {
  std::string name;  // "GPU idle while waiting for data, of the step"
  double value = 0;
  double threshold = 0;
  base::Unit unit = base::Unit::kShare;
  double whole_ns = 0;  // what a share is a part of; 0: of no length of time
};

// Something to look at or to jump to.
struct Evidence {
  Sentence text;
  std::optional<std::int32_t> rank = std::nullopt;
  std::optional<std::int64_t> window = std::nullopt;
  std::optional<std::int64_t> step = std::nullopt;
  std::optional<std::int64_t> event = std::nullopt;  // in traceEvents: an EventRef with the above
};

// Of one step, in ns: the gain is at least low and at most high.
struct Gain {
  base::Nanos low = 0, high = 0;
  base::Nanos middle() const { return low + (high - low) / 2; }
};

enum class Framework : std::uint8_t { kPyTorch, kLightning, kHuggingFace };
std::string_view name_of(Framework framework);

// What to do, as code or a setting.
struct Change {
  std::string why;   // one line
  std::string code;  // may have several lines; empty: nothing to type
};

struct Finding {
  std::string_view rule;   // "input-bound": stable, and the name of its page
  std::string_view cause;  // "input"
  Level level = Level::kInfo;
  Sentence title = {};  // one sentence in plain words
  Sentence detail = {};
  Measure measured = {};
  std::vector<Evidence> evidence = {};
  std::vector<std::int32_t> ranks = {};     // that show it, the worst first
  std::optional<Gain> gain = std::nullopt;  // nothing: it is not about time
  // The gain of the recorded steps, where that of the training is known less well: it is about what
  // happens now and then.
  std::optional<Gain> here = std::nullopt;
  Sentence about_gain = {};  // what its bounds leave out and count
  std::optional<Gain> remaining =
      std::nullopt;  // of the gain, once the findings before it are mended
  // Its gain is of steps that were not traced: their mean; 0: of those that were, as of most.
  base::Nanos untraced_step_ns = 0;
  Confidence confidence = Confidence::kMedium;
  bool after_others = false;         // others may cause it: what they may save stands before it
  std::vector<Change> changes = {};  // the first is the one to try first
  std::string verify = {};
  std::string page() const { return "docs/advice/" + std::string(rule) + ".md"; }
};

// A rule that could not judge, and what to record so that it can.
struct NotJudged {
  std::string_view rule;
  std::string why;
  Wanted wanted = Wanted::kNothing;
  std::string record = {};  // how, in the way the run was recorded; empty: nothing helps
};

struct Advice {
  std::vector<Finding> findings;  // the gravest first
  std::vector<NotJudged> not_judged;
  std::vector<Sentence> verdict;  // healthy or not, what the first fix leaves, the ceiling
  bool healthy = false;           // nothing of level warning or worse, and no doubt
  std::string doubt = {};         // why a run without a warning is not called healthy
  std::optional<double> left_out_by_guess = std::nullopt;  // as in Scope
  Recorder recorder = Recorder::kTorchProfiler;
  std::string path = {};    // as it was asked for, to be typed again; empty: none was typed
  std::size_t judged = 0;   // rules that could
  base::Nanos step_ns = 0;  // mean, of the slowest rank; 0: no steps
};

}  // namespace stepscope::advice
