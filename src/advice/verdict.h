// The sentences above the findings: what is wrong in one line, what the first fix leaves, or that
// the run is healthy and where its ceiling is.
#pragma once

#include <string_view>
#include <vector>

#include "advice/facts.h"
#include "advice/finding.h"

namespace stepscope::advice {

// lost: what is wrong with the files; see Scope.
std::vector<Sentence> verdict(const Facts& facts, const Advice& advice, std::string_view lost);

}  // namespace stepscope::advice
