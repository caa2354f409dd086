// Answers of analyses written by hand: rules are functions of tables, so a test says what the
// tables say and nothing else.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "advice/advise.h"
#include "advice/facts.h"
#include "analysis/analysis.h"

namespace stepscope::advice {

class AnswersForTests {
 public:
  using Row = std::vector<std::pair<std::string_view, base::Cell>>;

  // Columns that are not named are null.
  AnswersForTests& add(std::string_view analysis, std::string_view table, const Row& row) {
    for (base::Table& one : answer(analysis).tables) {
      if (one.name() != table) continue;
      std::vector<base::Cell> cells;
      for (const base::ColumnShape& column : one.shape().columns) {
        const auto found =
            std::ranges::find_if(row, [&](const auto& cell) { return cell.first == column.name; });
        cells.push_back(found == row.end() ? base::Cell(base::Null{}) : found->second);
      }
      one.add(cells);
    }
    return *this;
  }
  // Steps of 10 ms on one rank, four of them.
  AnswersForTests& steps(double mean_ns = 10e6) {
    return add("steps", "times",
               {{"rank", 0}, {"steps", 4}, {"mean_ns", mean_ns}, {"median_ns", 10'000'000}});
  }
  // A kind of stall, in ns per step.
  AnswersForTests& stall(std::string_view sort, std::int64_t idle_ns, Row more = {}) {
    Row row = {{"rank", 0},
               {"stall", sort},
               {"count", 4},
               {"idle_ns", 4 * idle_ns},
               {"inside_ns", 4 * idle_ns},
               {"steps", 4},
               {"devices", 1}};
    row.insert(row.begin(), more.begin(), more.end());  // what is given again wins
    return add("stalls", "kinds", row);
  }

  // A recording of the host alone.
  AnswersForTests& no_device_work() {
    answer("stalls").remarks.push_back({"The trace has no GPU work."});
    return *this;
  }

  // What the other rules about time read, with nothing wrong in it.
  AnswersForTests& rest() {
    add("dataloader", "loaders", {{"rank", 0}, {"loader", "x"}, {"sum_ns", 1}});
    add("transfers", "classes", {{"rank", 0}, {"kind", "DtoH"}});
    add("operators", "tensor_cores", {{"rank", 0}, {"operators", "others"}});
    add("overlap", "devices", {{"rank", 0}});
    add("overview", "devices", {{"rank", 0}, {"peak_reserved_share", 0.6}});
    add("kernels", "kernels", {{"rank", 0}, {"blocks_per_sm", 4.0}});
    add("operators", "shapes", {{"rank", 0}});
    add("patterns", "fusions", {{"rank", 0}});
    add("mfu", "steps", {{"rank", 0}});
    add("steps", "parts", {{"rank", 0}, {"part", "memcpy"}, {"mean_ns", 0.0}});
    for (int step = 0; step < 4; ++step) {
      add("steps", "steps", {{"rank", 0}, {"step", step}, {"step_ns", 10'000'000}});
    }
    return add("idle-time", "devices", {{"rank", 0}});
  }

  // A device of NVIDIA's, 7 for 7.0.
  AnswersForTests& compute_major(std::int64_t major) {
    return add("program", "devices",
               {{"rank", 0}, {"device", 0}, {"vendor", "nvidia"}, {"compute_major", major}});
  }

  AnswersForTests& recorded_by(Recorder recorder) {
    recorder_ = recorder;
    return *this;
  }

  // Without a profiler, as the user says.
  AnswersForTests& step_time(double ns) {
    step_ns_ = ns;
    return *this;
  }

  Advice advise(OwnThresholds own = {}, Framework framework = Framework::kPyTorch,
                const Scope& scope = {}) const {
    std::vector<AnswerOf> list;
    list.reserve(answers_.size());
    for (const auto& [name, one] : answers_) list.push_back({name, &one});
    Facts facts(std::move(list), std::move(own), framework, recorder_);
    facts.set_step_time(step_ns_);
    return advice::advise(facts, scope);
  }

 private:
  analysis::Answer& answer(std::string_view name) {
    const auto found = answers_.find(name);
    if (found != answers_.end()) return found->second;
    analysis::Answer empty = analysis::unanswered(*analysis::find_analysis(name), "");
    empty.remarks.clear();
    return answers_.emplace(std::string(name), std::move(empty)).first->second;
  }

  std::map<std::string, analysis::Answer, std::less<>> answers_;
  Recorder recorder_ = Recorder::kTorchProfiler;
  double step_ns_ = 0;
};

inline const Finding* finding_of(const Advice& advice, std::string_view rule) {
  const auto found =
      std::ranges::find_if(advice.findings, [&](const Finding& one) { return one.rule == rule; });
  return found == advice.findings.end() ? nullptr : &*found;
}

}  // namespace stepscope::advice
