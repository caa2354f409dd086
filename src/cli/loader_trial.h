// One setting of a loader, tried in a process of its own: what is asked of it, and what came of it.
// What runs there is python/stepscope/sweeping.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "session/loader_sweep.h"

namespace stepscope::cli {

// Who runs trials, and within which limits.
struct TrialRunner {
  std::string python;  // the interpreter
  std::string file;    // of the package: what it runs
  std::string target;  // module:function
  std::string log;     // a file for what the user's code prints
  std::uint64_t memory_limit_bytes = 0;
  const std::atomic<bool>* stop = nullptr;
};

struct TrialOutcome {
  analysis::LoaderTrial trial = {};
  analysis::LoaderSettings told = {};
  analysis::TrialTrouble trouble = analysis::TrialTrouble::kNone;
  std::string why = {};
  std::vector<std::string> takes = {};  // keywords
  std::int64_t peak_bytes = 0, shared_bytes = 0;
  double wall_s = 0;
  bool is_wrong = false;    // the target is: no setting would do better
  bool was_silent = false;  // it never came to a batch, and did not say why
  bool was_cut = false;     // by its limit
};

// Which keywords the target takes.
TrialOutcome look_at_target(const TrialRunner& runner, double limit_s);

TrialOutcome try_setting(const TrialRunner& runner, const analysis::LoaderSettings& given,
                         const std::vector<std::string>& takes, const analysis::NextTrial& next,
                         double limit_s);

// The last lines of what the user's code printed.
std::vector<std::string> last_lines(const std::string& log, std::size_t most);

}  // namespace stepscope::cli
