// What rules read: the answers of analyses, the thresholds, the framework in use. Nothing here
// looks at events.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "advice/finding.h"
#include "advice/thresholds.h"
#include "analysis/analysis.h"
#include "base/table_line.h"

namespace stepscope::advice {

// Rows of tables, as rules read them.

using Line = base::TableLine;

struct AnswerOf {
  std::string_view analysis;
  const analysis::Answer* answer = nullptr;
};

// The steps of one rank.
struct RankSteps {
  std::int32_t rank = 0;
  std::int64_t steps = 0;
  double step_ns = 0;  // mean
  double median_ns = 0;
  // Between them lie 9 of 10 steps; of fewer than 20, all. 0: not known.
  double short_ns = 0, long_ns = 0;
};

// The steps of a rank that no profiler slowed, in a run of which only some were traced.
struct UntracedSteps {
  double steps = 0, step_ns = 0;                    // mean, without warm-up
  bool given = false;                               // by the user; how many, is not known
  std::optional<double> wait_share = std::nullopt;  // of them, the loop waited for data
  std::optional<double> spread = std::nullopt;      // standard deviation / mean
};

// One kind of stall on one rank, per step and device.
struct StallPerStep {
  double count = 0;
  double host_ns = 0, idle_ns = 0, inside_ns = 0, copy_ns = 0;
  double longest_ns = 0;
  double bytes = 0;
  std::int64_t steps = 0;  // in which it occurs
  // Of the idle time, what is left at the least without a profiler; nothing: not known.
  std::optional<double> without_profiler_ns = std::nullopt;
  std::optional<double> usual_ns = std::nullopt;  // the same, usually
};

class Facts {
 public:
  Facts(std::vector<AnswerOf> answers, OwnThresholds own, Framework framework,
        Recorder recorder = Recorder::kTorchProfiler);

  // Null where the analysis was not asked or has no such table.
  const base::Table* table(std::string_view analysis, std::string_view table) const;
  std::vector<Line> lines(std::string_view analysis, std::string_view table) const;
  // Of one rank.
  std::vector<Line> lines(std::string_view analysis, std::string_view table,
                          std::int32_t rank) const;
  // What an analysis says it could not answer; empty: nothing.
  std::string remark(std::string_view analysis) const;
  // Why there is no GPU work in the trace; empty: there is, or there is no trace.
  std::string no_device_work() const { return remark("stalls"); }

  // Whether a GPU is known to take part; where none is, advice speaks of none.
  bool on_gpu() const;
  // Whether the machine was looked at, and none was there.
  bool saw_no_gpu() const;

  const std::vector<RankSteps>& ranks() const { return ranks_; }
  // Nothing where the steps of this rank are all there is to know about.
  std::optional<UntracedSteps> untraced(const RankSteps& rank) const;
  // How long a step takes without a profiler, as the user says, which goes before what was
  // recorded.
  void set_step_time(double ns) { given_step_ns_ = ns; }
  // Of launching without the waits that came once, as below.
  StallPerStep stall(const RankSteps& rank, std::string_view sort) const;
  // Waits for launches, in all, that are too long for it and came once: libraries that start and
  // are loaded, code that is compiled. Launching faster would not save them.
  // On all devices together.
  double waited_once_ns(const RankSteps& rank) const;
  // Of the time of all steps.
  double share_waited_once(const RankSteps& rank) const;
  // Of one place in the program, as `stalls` tells it; 0: no such wait.
  double waited_once_ns(const Line& place) const;
  // Idle time of launching that other stalls may bring about: a device that ran dry has lost the
  // lead of the host.
  double launching_ns(const RankSteps& rank) const;

  double threshold(std::string_view rule, std::string_view name) const {
    return value_of(rule, name, own_);
  }
  // By the rule's thresholds notice, warning and critical; nothing below the first.
  std::optional<Level> level(std::string_view rule, double value) const;
  // The threshold that made it this level.
  double threshold_of(std::string_view rule, Level level) const;

  Framework framework() const { return framework_; }
  Recorder recorder() const { return recorder_; }
  std::string by_framework(std::string_view torch, std::string_view lightning,
                           std::string_view hugging_face) const;

 private:
  void index_by_rank();
  std::optional<UntracedSteps> recorded_untraced(const RankSteps& rank) const;
  // Of a run without a trace: what its processes recorded, without the warm-up.
  void add_recorded_steps();
  void add_spread(RankSteps& rank) const;
  void add_waits_that_came_once();
  // Whether a wait that is alone says anything: among several steps, or where none is marked.
  bool tells_what_comes_once(std::int32_t rank) const;
  double devices_of(std::int32_t rank) const;

  std::vector<AnswerOf> answers_;
  OwnThresholds own_;
  Framework framework_;
  Recorder recorder_;
  double given_step_ns_ = 0;  // 0: not said
  // Asked for each of what may be thousands of ranks.
  using RowsOfRank = std::unordered_map<std::int32_t, std::vector<std::size_t>>;
  std::unordered_map<const base::Table*, RowsOfRank> rows_of_rank_;
  std::vector<RankSteps> ranks_;
  std::unordered_map<std::int32_t, double> once_ns_;  // by rank
};

}  // namespace stepscope::advice
