// Two runs, ranks or sets of steps side by side.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/compare/diff.h"
#include "analysis/compare/gate.h"
#include "analysis/compare/step_samples.h"
#include "analysis/view.h"
#include "base/result.h"
#include "session/analyze.h"
#include "session/session.h"

namespace stepscope::session {

// Questions about the steps of a run that are not warm-up.

struct SteadyStateStudy {
  Study study;             // of traced steps, or where nothing was traced of recorded ones
  std::size_t warmup = 0;  // steps that were left out of it
  analysis::UntracedSteps untraced = {};  // of a recording, where there are enough of them
  bool marks_steps = false;               // the program marked steps: they are none of ours
  bool is_traced = false;                 // a profiler ran during the steps of the study
};

// Steps that the selection names are taken as they are; a trace that marks none, whole.
base::Result<SteadyStateStudy> steady_state(const OpenedRun& recording,
                                            analysis::Selection selection, unsigned threads);

struct ComparedSide {
  const OpenedRun* recording = nullptr;
  analysis::Selection selection;  // without steps: all but the warm-up
  std::string name;               // as the user calls it
};

// The answer of analysis::kDiff.
base::Result<analysis::Answer> compare(const ComparedSide& before, const ComparedSide& after,
                                       unsigned threads);

// What runs say about the quantities that limits are about: from recordings, from baseline files,
// and from plain files of step times.

// Of the settled steps. What a recording cannot say is left out; a column that is not there, or
// rows that are more than one without `aggregate`, are errors.
base::Result<analysis::RunSamples> samples_of(const OpenedRun& recording, std::string_view name,
                                              const analysis::Selection& selection,
                                              const analysis::GateRules& rules, unsigned threads);

// Of step times in nanoseconds: the warm-up is left out.
analysis::RunSamples samples_of_steps(std::string_view name, std::span<const double> steps_ns);

// "stepscope.baseline/1", described in docs/formats/baseline.md: a few kB, made to be committed.
std::string baseline_json(std::span<const analysis::RunSamples> runs);

// The runs in a baseline file or in a file of step times (docs/formats/baseline.md), known by
// content; nothing where the path is neither, so that it is a recording. `unit_ns` is of bare
// numbers.
base::Result<std::optional<std::vector<analysis::RunSamples>>> read_samples(const std::string& path,
                                                                            double unit_ns);

}  // namespace stepscope::session
