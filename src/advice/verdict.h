// The sentences above the findings: what is wrong in one line, what the first fix leaves, or that
// the run is healthy and where its ceiling is.
#pragma once

#include <vector>

#include "advice/advise.h"
#include "advice/facts.h"
#include "advice/finding.h"

namespace stepscope::advice {

std::vector<Sentence> verdict(const Facts& facts, const Advice& advice, const Scope& scope);

}  // namespace stepscope::advice
