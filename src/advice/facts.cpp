// What rules read of the answers: steps, stalls, thresholds, by rank.
#include "advice/facts.h"

#include <algorithm>
#include <array>
#include <utility>

namespace stepscope::advice {

Facts::Facts(std::vector<AnswerOf> answers, OwnThresholds own, Framework framework,
             Recorder recorder)
    : answers_(std::move(answers)),
      own_(std::move(own)),
      framework_(framework),
      recorder_(recorder) {
  index_by_rank();
  for (const Line& line : lines("steps", "times")) {
    if (line.whole("steps") == 0) continue;
    ranks_.push_back({static_cast<std::int32_t>(line.whole("rank")), line.whole("steps"),
                      line.number("mean_ns"), line.number("median_ns")});
    add_spread(ranks_.back());
  }
  if (table("steps", "times") == nullptr) add_recorded_steps();
  add_waits_that_came_once();
}

void Facts::index_by_rank() {
  for (const AnswerOf& of : answers_) {
    for (const base::Table& table : of.answer->tables) {
      RowsOfRank& rows = rows_of_rank_[&table];
      for (std::size_t row = 0; row < table.rows(); ++row) {
        rows[static_cast<std::int32_t>(Line(table, row).whole("rank"))].push_back(row);
      }
    }
  }
}

void Facts::add_recorded_steps() {
  for (const Line& line : lines("throughput", "phases")) {
    const double rate = line.number("iterations_per_second");
    if (line.text("phase") != "training" || rate <= 0) continue;
    const double median = line.number("median_per_second");
    RankSteps rank{static_cast<std::int32_t>(line.whole("rank")), line.whole("measured"),
                   1e9 / rate, 1e9 / (median > 0 ? median : rate)};
    if (line.number("low_per_second") > 0) rank.long_ns = 1e9 / line.number("low_per_second");
    ranks_.push_back(rank);
  }
}

void Facts::add_spread(RankSteps& rank) const {
  std::vector<double> lengths;
  for (const Line& line : lines("steps", "steps", rank.rank)) {
    lengths.push_back(line.number("step_ns"));
  }
  if (lengths.size() < 2) return;
  std::ranges::sort(lengths);
  const std::size_t left_out = lengths.size() / 20;
  rank.short_ns = lengths[left_out];
  rank.long_ns = lengths[lengths.size() - 1 - left_out];
}

std::optional<UntracedSteps> Facts::untraced(const RankSteps& rank) const {
  if (table("steps", "times") == nullptr) return std::nullopt;  // its steps are those of all
  std::optional<UntracedSteps> out = recorded_untraced(rank);
  if (given_step_ns_ <= 0) return out;
  if (!out) out = UntracedSteps{};
  out->step_ns = given_step_ns_;
  out->given = true;
  return out;
}

std::optional<UntracedSteps> Facts::recorded_untraced(const RankSteps& rank) const {
  for (const Line& line : lines("throughput", "phases", rank.rank)) {
    const double rate = line.number("iterations_per_second");
    // Traced steps may all be warm-up, and are not shown as traced then.
    const bool has_traced = line.whole("traced") > 0 || line.whole("iterations") > rank.steps;
    if (line.text("phase") != "training" || !has_traced || rate <= 0) continue;
    // Where all that is left of the steps was traced, the rate is of those.
    if (line.whole("traced") - line.whole("warm_up_traced") ==
        line.whole("iterations") - line.whole("warm_up")) {
      continue;
    }
    UntracedSteps out{line.number("measured"), 1e9 / rate};
    if (line.has_value("wait_share")) out.wait_share = line.number("wait_share");
    if (line.has_value("spread")) out.spread = line.number("spread");
    return out;
  }
  return std::nullopt;
}

bool Facts::on_gpu() const {
  const bool traced = table("stalls", "kinds") != nullptr;
  if (traced && no_device_work().empty()) return true;
  const base::Table* const gpus = table("system", "gpus");
  return gpus != nullptr && gpus->rows() > 0;
}

bool Facts::saw_no_gpu() const {
  const base::Table* const machines = table("system", "machines");
  return machines != nullptr && machines->rows() > 0 && !on_gpu();
}

const base::Table* Facts::table(std::string_view analysis, std::string_view table) const {
  const auto found = std::ranges::find(answers_, analysis, &AnswerOf::analysis);
  if (found == answers_.end()) return nullptr;
  const auto& tables = found->answer->tables;
  const auto at =
      std::ranges::find_if(tables, [&](const base::Table& one) { return one.name() == table; });
  return at == tables.end() ? nullptr : &*at;
}

std::vector<Line> Facts::lines(std::string_view analysis, std::string_view table) const {
  std::vector<Line> out;
  const base::Table* found = this->table(analysis, table);
  if (found == nullptr) return out;
  for (std::size_t row = 0; row < found->rows(); ++row) out.emplace_back(*found, row);
  return out;
}

std::vector<Line> Facts::lines(std::string_view analysis, std::string_view table,
                               std::int32_t rank) const {
  std::vector<Line> out;
  const base::Table* const found = this->table(analysis, table);
  const auto by_rank = rows_of_rank_.find(found);
  if (by_rank == rows_of_rank_.end()) return out;
  const auto rows = by_rank->second.find(rank);
  if (rows == by_rank->second.end()) return out;
  for (const std::size_t row : rows->second) out.emplace_back(*found, row);
  return out;
}

std::string Facts::remark(std::string_view analysis) const {
  const auto found = std::ranges::find(answers_, analysis, &AnswerOf::analysis);
  if (found == answers_.end() || found->answer->remarks.empty()) return {};
  return found->answer->remarks.front().text;
}

StallPerStep Facts::stall(const RankSteps& rank, std::string_view sort) const {
  StallPerStep out;
  for (const Line& line : lines("stalls", "kinds", rank.rank)) {
    if (line.text("stall") != sort) continue;
    const auto steps = static_cast<double>(rank.steps);
    const double each = steps * std::max(1.0, line.number("devices"));
    out.count = line.number("count") / steps;
    out.host_ns = line.number("host_ns") / steps;
    out.idle_ns = line.number("idle_ns") / each;
    out.inside_ns = line.number("inside_ns") / each;
    out.copy_ns = line.number("copy_ns") / each;
    out.longest_ns = line.number("longest_ns");
    out.bytes = line.number("bytes") / steps;
    out.steps = line.whole("steps");
    if (line.has_value("without_profiler_ns"))
      out.without_profiler_ns = line.number("without_profiler_ns") / each;
    if (line.has_value("usual_ns")) out.usual_ns = line.number("usual_ns") / each;
    if (sort != "launch") continue;
    const double once = waited_once_ns(rank) / each;
    for (double* of_all : {&out.idle_ns, &out.inside_ns}) *of_all = std::max(0.0, *of_all - once);
    for (auto* left : {&out.without_profiler_ns, &out.usual_ns}) {
      if (*left) *left = std::max(0.0, **left - once);
    }
  }
  return out;
}

double Facts::waited_once_ns(const Line& place) const {
  constexpr double kUnlikeOthers = 5;  // times the mean of the others at the same place
  const double longest = place.number("longest_ns");
  if (place.text("stall") != "launch" || longest < threshold("launch-bound", "single")) return 0;
  const auto rank = static_cast<std::int32_t>(place.whole("rank"));
  if (!tells_what_comes_once(rank)) return 0;
  // All devices of the process wait for it.
  const double devices = devices_of(rank);
  const double idle = place.number("idle_ns");
  const double once = std::min(devices * longest, idle);
  const double others = place.number("waits") - devices;
  const bool alone = others <= 0;
  return alone || longest > kUnlikeOthers * (idle - once) / others ? once : 0;
}

bool Facts::tells_what_comes_once(std::int32_t rank) const {
  constexpr std::size_t kSeveral = 3;
  const std::vector<Line> steps = lines("steps", "steps", rank);
  // The whole of a recording without marks is step 0.
  return steps.size() >= kSeveral || (steps.size() == 1 && steps.front().whole("step") == 0);
}

double Facts::devices_of(std::int32_t rank) const {
  double devices = 1;
  for (const Line& line : lines("stalls", "kinds", rank)) {
    devices = std::max(devices, line.number("devices"));
  }
  return devices;
}

void Facts::add_waits_that_came_once() {
  for (const Line& place : lines("stalls", "places")) {
    const double once = waited_once_ns(place);
    if (once > 0) once_ns_[static_cast<std::int32_t>(place.whole("rank"))] += once;
  }
}

double Facts::waited_once_ns(const RankSteps& rank) const {
  const auto found = once_ns_.find(rank.rank);
  return found == once_ns_.end() ? 0 : found->second;
}

double Facts::share_waited_once(const RankSteps& rank) const {
  const double all = rank.step_ns * static_cast<double>(rank.steps) * devices_of(rank.rank);
  return all > 0 ? waited_once_ns(rank) / all : 0;
}

double Facts::launching_ns(const RankSteps& rank) const {
  return stall(rank, "launch").idle_ns + stall(rank, "optimizer").idle_ns;
}

std::optional<Level> Facts::level(std::string_view rule, double value) const {
  for (const Level level : {Level::kCritical, Level::kWarning, Level::kNotice}) {
    if (value >= threshold_of(rule, level)) return level;
  }
  return std::nullopt;
}

double Facts::threshold_of(std::string_view rule, Level level) const {
  return threshold(rule, name_of(level == Level::kInfo ? Level::kNotice : level));
}

std::string Facts::by_framework(std::string_view torch, std::string_view lightning,
                                std::string_view hugging_face) const {
  switch (framework_) {
    case Framework::kLightning:
      return std::string(lightning);
    case Framework::kHuggingFace:
      return std::string(hugging_face);
    case Framework::kPyTorch:
      break;
  }
  return std::string(torch);
}

}  // namespace stepscope::advice
