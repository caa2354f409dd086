// Trying settings of a target's loader, one after the other, until the race is decided or the time
// is over.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/command.h"
#include "report/page/page.h"
#include "session/compare/loader_sweep.h"

namespace stepscope::cli {

struct SweepRequest {
  std::string target;
  analysis::LoaderChoices choices;
  double budget_s = 120;
};

// What was tried and where.
struct Swept {
  std::vector<analysis::TriedSetting> tried;
  analysis::SweepScene scene;
  std::vector<report::NamedText> facts;
  std::string failure;  // why nothing could be measured: a sentence; empty: something was
  std::vector<std::string> last_lines;  // of what the user's code printed, where it failed
};

Swept sweep_target(const Context& context, const SweepRequest& request);

}  // namespace stepscope::cli
