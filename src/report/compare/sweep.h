// A sweep over loader settings as people and machines read it. It opens with the setting to take.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "report/page/page.h"

namespace stepscope::report {

// "num_workers=4 is the fastest: 12.3 ms per step, the next best takes 38 % longer"
std::string sweep_sentence(const analysis::Answer& sweep);

// The answers hold that of analysis::kLoaderSweep alone, and must outlive the page.
Page make_sweep_page(const Answers& answers, std::vector<NamedText> facts,
                     std::vector<NamedText> next);

// "stepscope.sweep/1", described in docs/cli/sweep.md.
std::string sweep_json(const analysis::Answer& sweep);

}  // namespace stepscope::report
