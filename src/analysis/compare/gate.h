// Whether a run is worse than it was by more than is allowed: limits, what runs say about them, and
// the outcome of each. Pure functions of numbers. Definitions: docs/metrics/comparing.md.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/compare/change.h"
#include "base/table.h"

namespace stepscope::analysis {

// Whether a profiler, or the allocator's history, ran during the steps, which costs them time.
enum class StepKind : std::uint8_t { kUntold, kUntraced, kTraced };
std::string_view name_of(StepKind kind);  // "untold", "untraced", "traced"

// What one run says about one quantity.
struct Sample {
  std::vector<double> values;  // of settled steps in order, or one for the whole run
  bool per_step = false;
  StepKind kind = StepKind::kUntold;  // of step times
  // Whose figures they are, where a run has several ranks and another might have been meant.
  std::optional<std::int64_t> rank = std::nullopt;
};
// What one run says, by the names of quantities. Small: it is what a baseline file holds.
struct RunSamples {
  std::string name;            // of the run
  std::size_t warmup = 0;      // steps that were left out
  std::size_t in_windows = 0;  // steps of trace windows and beside them, left out too
  std::map<std::string, Sample> samples;
  std::string bad_end = {};  // where it did not end by itself: "was killed, or still runs"
};

enum class Aggregate : std::uint8_t { kOnly, kSum, kMean, kMax, kMin };

// Which cells of an answer a quantity is made of.
struct ColumnSource {
  std::string analysis, table, column;
  std::map<std::string, std::string> where = {};  // rows whose columns hold these
  Aggregate aggregate = Aggregate::kOnly;         // where several rows remain; kOnly: none may
  bool has_steps = false;                         // the table has rows of single steps
  bool per_step = false;  // the figure of every step alone, whatever the table has

  // Whether there is a figure per step, so that steps show how much it differs by itself.
  bool tells_noise() const { return has_steps || per_step; }
};

// Whether it is measured, so that it never comes out the same twice; others are counted.
bool is_measured(base::Unit unit);

struct GateLimit {
  std::string name;    // as the report calls it: "step_time"
  std::string sample;  // the quantity it is about
  base::Unit unit = base::Unit::kNone;
  Average average = Average::kTypical;
  bool inverted = false;  // of one second, how many: throughput
  double factor = 1;      // samples per step, of throughput
  bool less_is_worse = false;
  // Worse by at most so much; a share of what it was, or an amount.
  std::optional<double> worse_share = std::nullopt, worse_by = std::nullopt;
  std::optional<double> bound = std::nullopt;         // never beyond this, whatever it was
  std::optional<ColumnSource> column = std::nullopt;  // nothing: one of those every run has
  bool asked = true;  // by the user: an error where it cannot be judged
};

struct GateRules {
  std::vector<GateLimit> limits;
  double tail = 0.005;  // how often noise may look like a regression
  // A comparison that would miss this says what it takes to see it; nothing: 5 % of a typical
  // step, 10 % of a mean, which stragglers move.
  std::optional<double> worth_seeing = std::nullopt;
  std::optional<double> spread = std::nullopt;  // between runs; nothing: as docs/metrics say
  bool strict = false;                          // what is unsure fails
  bool allow_unfinished = false;  // a run that did not end by itself is judged like any other
};
// Step time, throughput, peak memory, exposed communication.
GateRules standard_rules();

// Names of the quantities that every run is asked for.
namespace sample {
inline constexpr std::string_view kStepTime = "step_time";
// Of traced steps, where kStepTime has the others.
inline constexpr std::string_view kTracedStepTime = "traced_step_time";
inline constexpr std::string_view kThroughput = "throughput";
inline constexpr std::string_view kPeakMemory = "peak_memory";
inline constexpr std::string_view kExposedCommunication = "exposed_communication";
}  // namespace sample
// The limit that goes by this name, without any numbers; nothing for another name.
std::optional<GateLimit> named_limit(std::string_view name);

enum class Outcome : std::uint8_t {
  kPassed,
  kBetter,     // surely
  kFailed,     // surely worse than allowed
  kUnsure,     // not surely worse, and a change worth seeing could hide in the noise
  kNotJudged,  // no figures
};
std::string_view name_of(Outcome outcome);  // "passed", "better", "failed", "unsure", "not judged"

// Which steps of runs are held against each other: of one kind wherever that can be.
struct StepChoice {
  StepKind kind = StepKind::kUntraced;  // kUntold: what each has, which is not the same
  std::string remark = {};              // where it has to be said; a sentence without its end
};
StepChoice choose_steps(std::span<const RunSamples> before, std::span<const RunSamples> after);
// The step times that were chosen; null: it has none.
const Sample* steps_of(const RunSamples& run, StepKind chosen);

struct Judged {
  GateLimit limit;
  Outcome outcome = Outcome::kNotJudged;
  Difference change;          // without "before" where only a bound was given
  bool has_before = false;    //
  bool beyond_bound = false;  // failed, and because of the bound
  bool near_bound = false;    // unsure, and because of the bound
  double allowed = 0;         // to be worse by, in the unit of the limit
  std::string why;            // not judged, or unsure: a sentence
  std::string remark = {};    // about the figures, whatever the outcome
  bool as_it_is = false;      // one figure of the whole run: its noise is not known
  bool about_run = false;     // no limit: how it ended, that it has no steps; `why` says all
};

// Whether it makes the gate fail.
bool fails(const Judged& judged, const GateRules& rules);
// A limit that was written down and that could not be judged: a gate that looks away is none.
bool is_overlooked(const Judged& judged);

// Runs before may be missing where limits are bounds only. What makes all limits worthless comes
// first: a run that did not end by itself, or has no steps.
std::vector<Judged> judge(const GateRules& rules, std::span<const RunSamples> before,
                          std::span<const RunSamples> after);

}  // namespace stepscope::analysis
