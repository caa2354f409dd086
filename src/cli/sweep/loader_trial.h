// One setting of a loader, tried in a process of its own: what is asked of it, and what came of it.
// What runs there is python/stepscope/sweeping.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "session/compare/loader_sweep.h"

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
  std::optional<double> import_s = {};  // until the target was there; nothing: it never was
  bool is_wrong = false;                // the target is: no setting would do better
  bool was_silent = false;              // it never came to a batch, and did not say why
  bool was_cut = false;                 // by a limit
};

struct TrialLimits {
  double all_s = 0;          // from the start of its process
  double first_batch_s = 0;  // until it came, once the target is imported: that may take long
  double measuring_s = 0;    // from there on
};

// `takes` are the keywords of the target; nothing: not known yet, its trial tells.
TrialOutcome try_setting(const TrialRunner& runner, const analysis::LoaderSettings& given,
                         const std::optional<std::vector<std::string>>& takes,
                         const analysis::NextTrial& next, const TrialLimits& limits);

// The last lines of what the user's code printed.
std::vector<std::string> last_lines(const std::string& log, std::size_t most);

}  // namespace stepscope::cli
