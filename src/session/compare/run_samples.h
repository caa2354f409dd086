// What runs say about the quantities that limits are about: from recordings, from baseline files,
// and from plain files of step times.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/compare/gate.h"
#include "analysis/view.h"
#include "base/result.h"
#include "session/session.h"

namespace stepscope::session {

// Of the settled steps. What a recording cannot say is left out; a column that is not there, or
// rows that are more than one without `aggregate`, are errors.
base::Result<analysis::RunSamples> samples_of(const Recording& recording, std::string_view name,
                                              const analysis::Selection& selection,
                                              const analysis::GateRules& rules, unsigned threads);

// Of step times in nanoseconds: the warm-up is left out.
analysis::RunSamples samples_of_steps(std::string_view name, std::span<const double> steps_ns);

// "stepscope.baseline/1", described in docs/formats/baseline.md: a few kB, made to be committed.
std::string baseline_json(std::span<const analysis::RunSamples> runs);

// The runs in a baseline file or in a file of step times (docs/formats/baseline.md), told by
// content; nothing where the path is neither, so that it is a recording. `unit_ns` is of bare
// numbers.
base::Result<std::optional<std::vector<analysis::RunSamples>>> read_samples(const std::string& path,
                                                                            double unit_ns);

}  // namespace stepscope::session
