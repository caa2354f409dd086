// Findings beside each other: causes that overlap are not counted twice, and the gravest
// stands first.
#pragma once

#include "advice/facts.h"
#include "advice/finding.h"

namespace stepscope::advice {

void rank_findings(const Facts& facts, Advice& advice);

}  // namespace stepscope::advice
