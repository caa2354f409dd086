#include "analysis/loading/loader_race.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

namespace stepscope::analysis {
namespace {

constexpr std::size_t kTryAll = 12;  // combinations; of more, one setting is varied after another
constexpr std::size_t kMostRounds = 4;
constexpr double kSurelySlower = 0.01;           // a chance of being faster below this
constexpr double kSureEnough = 0.975;            // it looks several times
constexpr double kShortest = 0.3, kLongest = 3;  // seconds of a first trial
constexpr double kFirstRound = 0.4;              // of the time for a stage
constexpr double kHopeless = 2;                  // times the best
constexpr double kQuickStart = 0.2;              // of what a trial took: the first is slow

LoaderSettings meaningful(LoaderSettings settings) {
  const auto& workers = settings[LoaderSetting::kNumWorkers];
  if (workers && *workers == 0) {
    settings[LoaderSetting::kPrefetchFactor].reset();
    settings[LoaderSetting::kPersistentWorkers].reset();
  }
  return settings;
}

// Each of the settings with every value of one more.
std::vector<LoaderSettings> varied(const std::vector<LoaderSettings>& list, LoaderSetting setting,
                                   const std::vector<std::int64_t>& values) {
  if (values.empty()) return list;
  std::vector<LoaderSettings> out;
  for (LoaderSettings one : list) {
    for (const std::int64_t value : values) {
      one[setting] = value;
      if (std::ranges::find(out, meaningful(one)) == out.end()) out.push_back(meaningful(one));
    }
  }
  return out;
}

LoaderSettings first_values(const LoaderChoices& choices) {
  LoaderSettings out;
  for (std::size_t i = 0; i < kLoaderSettings; ++i) {
    const auto setting = static_cast<LoaderSetting>(i);
    if (!choices[setting].empty()) out[setting] = choices[setting].front();
  }
  return out;
}

}  // namespace

std::vector<LoaderSettings> combinations(const LoaderChoices& choices) {
  std::vector<LoaderSettings> out(1);
  for (std::size_t i = 0; i < kLoaderSettings; ++i) {
    const auto setting = static_cast<LoaderSetting>(i);
    out = varied(out, setting, choices[setting]);
  }
  return out;
}

LoaderRace::LoaderRace(LoaderChoices choices) : choices_(std::move(choices)) {
  using enum LoaderSetting;
  const std::vector<LoaderSettings> all = combinations(choices_);
  std::vector<LoaderSettings> first = all;
  if (all.size() > kTryAll) {
    stages_left_ = {
        {kDropLast}, {kPersistentWorkers}, {kPrefetchFactor}, {kPinMemory, kNonBlocking}};
    first.assign(1, first_values(choices_));
    for (const LoaderSetting setting : {kNumWorkers, kBatchSize}) {
      first = varied(first, setting, choices_[setting]);
    }
  }
  for (const LoaderSettings& one : first) stage_.push_back(place_of(one));
  queue_.assign(stage_.rbegin(), stage_.rend());
}

std::optional<NextTrial> LoaderRace::next(double left_s, double start_s) {
  const auto useless = [&](std::size_t i) { return tried_[i].trouble != TrialTrouble::kNone; };
  std::erase_if(queue_, useless);
  while (queue_.empty()) {
    if (is_decided_ || (!next_round() && !next_stage())) {
      is_decided_ = true;
      return std::nullopt;
    }
    std::erase_if(queue_, useless);
    seconds_ = 0;
  }
  const auto waiting = static_cast<double>(queue_.size());
  if (seconds_ == 0) {
    const double stage = left_s / static_cast<double>(1 + stages_left_.size());
    const double share =
        round_ == 0 ? kFirstRound : 1.0 / static_cast<double>(kMostRounds - round_);
    const double longest = kLongest * static_cast<double>(std::size_t{1} << round_);
    seconds_ = std::clamp(share * stage / waiting - start_s, kShortest, longest);
  }
  // Better short trials of all that wait than long ones of some.
  const double seconds = std::max(kShortest, std::min(seconds_, left_s / waiting - start_s));
  // What was never tried may be the fastest: no answer is worth more than a look at it, so it is
  // begun though only a quick start leaves time to measure. Starts vary, and nothing else is left
  // to do with the time.
  const bool is_first = !tried_[queue_.back()].is_measured();
  if (left_s < (is_first ? kQuickStart : 1) * (start_s + seconds)) return std::nullopt;
  last_ = queue_.back();
  queue_.pop_back();
  NextTrial out{.place = last_, .seconds = seconds, .by_sample = counts_samples(tried_)};
  if (const auto best = best_setting(tried_); best && best->fastest != last_) {
    out.hopeless_ns = kHopeless * score_of(tried_[best->fastest], out.by_sample)->per_ns;
  }
  return out;
}

void LoaderRace::take(LoaderTrial trial) {
  if (trial.blocks.empty()) return;
  tried_[last_].trials.push_back(std::move(trial));
  merge_same();
}

// A target that does not pass a keyword on makes the same loader whatever it is given: there is
// nothing to choose, and what was measured is another trial of the one.
void LoaderRace::merge_same() {
  TriedSetting& one = tried_[last_];
  if (one.told == LoaderSettings()) return;
  const auto first = std::ranges::find_if(tried_, [&](const TriedSetting& other) {
    return &other != &one && other.trouble == TrialTrouble::kNone && other.is_measured() &&
           other.told != LoaderSettings() && other.settings() == one.settings();
  });
  if (first == tried_.end()) return;
  std::ranges::move(one.trials, std::back_inserter(first->trials));
  one.trials.clear();
  first->peak_bytes = std::max(first->peak_bytes, one.peak_bytes);
  first->shared_bytes = std::max(first->shared_bytes, one.shared_bytes);
  one.trouble = TrialTrouble::kSame;
  one.why = fmt::format("the same loader as with {}", keywords_text(first->given));
}

void LoaderRace::take_trouble(TrialTrouble trouble, std::string why) {
  tried_[last_].trouble = trouble;
  tried_[last_].why = std::move(why);
  if (trouble == TrialTrouble::kMemory) skip_more_demanding(tried_[last_].given);
}

// What has no less of anything that takes memory would run into the same.
void LoaderRace::skip_more_demanding(const LoaderSettings& than) {
  for (TriedSetting& one : tried_) {
    if (one.trouble != TrialTrouble::kNone || !one.trials.empty()) continue;
    const bool more = std::ranges::all_of(
        std::array{LoaderSetting::kNumWorkers, LoaderSetting::kBatchSize,
                   LoaderSetting::kPrefetchFactor},
        [&](LoaderSetting setting) { return one.given[setting] >= than[setting]; });
    if (!more) continue;
    one.trouble = TrialTrouble::kSkipped;
    one.why = fmt::format("not tried: {} was out of memory already", keywords_text(than));
  }
}

std::size_t LoaderRace::not_tried() const {
  std::size_t count = 0;
  for (const LoaderSettings& one : combinations(choices_)) {
    const auto found = std::ranges::find(tried_, one, &TriedSetting::given);
    const bool known =
        found != tried_.end() && (found->is_measured() || found->trouble != TrialTrouble::kNone);
    count += known ? 0 : 1;
  }
  return count;
}

std::size_t LoaderRace::out_of_time() const {
  auto count = static_cast<std::size_t>(std::ranges::count_if(tried_, [](const TriedSetting& one) {
    return !one.is_measured() && one.trouble == TrialTrouble::kNone;
  }));
  const auto best = best_setting(tried_);
  if (is_decided_ || !best) return count;
  for (const std::vector<LoaderSetting>& dimensions : stages_left_) {
    std::vector<LoaderSettings> list = {tried_[best->place].given};
    for (const LoaderSetting setting : dimensions) list = varied(list, setting, choices_[setting]);
    count += list.size() - 1;
  }
  return count;
}

std::size_t LoaderRace::place_of(const LoaderSettings& settings) {
  const auto found = std::ranges::find(tried_, settings, &TriedSetting::given);
  if (found != tried_.end()) return static_cast<std::size_t>(found - tried_.begin());
  tried_.push_back({.given = settings});
  return tried_.size() - 1;
}

// Those of the stage that may still win. The best two are given a second trial in any case: one
// process may be lucky.
std::vector<std::size_t> LoaderRace::contenders() const {
  const bool by_sample = counts_samples(tried_);
  std::vector<std::pair<LoaderScore, std::size_t>> scores;
  std::vector<std::optional<LoaderScore>> all;
  for (const std::size_t i : stage_) {
    if (tried_[i].trouble != TrialTrouble::kNone) continue;
    all.push_back(score_of(tried_[i], by_sample));
    if (all.back()) scores.emplace_back(*all.back(), i);
  }
  const TrialSpread spread = trial_spread(all);
  std::ranges::stable_sort(scores, {}, [](const auto& pair) { return pair.first.per_ns; });
  std::vector<std::size_t> out;
  for (const auto& [score, i] : scores) {
    const bool lucky = round_ == 0 && out.size() < 2 && scores.size() > 1;
    if (out.empty() || lucky ||
        chance_of_faster(scores.front().first, score, 0, spread) >= kSurelySlower) {
      out.push_back(i);
    }
  }
  return out;
}

bool LoaderRace::is_steady(const std::vector<std::size_t>& members) const {
  if (round_ == 0) return false;
  std::vector<TriedSetting> stage;
  stage.reserve(members.size());
  for (const std::size_t i : members) stage.push_back(tried_[i]);
  const auto best = best_setting(stage);
  return best && best->confidence >= kSureEnough;
}

bool LoaderRace::next_round() {
  const std::vector<std::size_t> members = contenders();
  const bool alone = members.size() < 2;
  if (alone || round_ + 1 >= kMostRounds || is_steady(members)) return false;
  // The next one is last: so the order is the reverse of the last round's.
  queue_.clear();
  for (const std::size_t i : stage_) {
    if (std::ranges::find(members, i) != members.end()) queue_.push_back(i);
  }
  if (round_ % 2 == 1) std::ranges::reverse(queue_);
  ++round_;
  return true;
}

bool LoaderRace::next_stage() {
  while (!stages_left_.empty()) {
    const std::vector<LoaderSetting> dimensions = stages_left_.back();
    stages_left_.pop_back();
    const auto best = best_setting(tried_);
    if (!best) return false;
    std::vector<LoaderSettings> list = {tried_[best->place].given};
    for (const LoaderSetting setting : dimensions) {
      list = varied(list, setting, choices_[setting]);
    }
    stage_.clear();
    for (const LoaderSettings& one : list) stage_.push_back(place_of(one));
    // It has been measured in the stage before.
    const std::size_t known = place_of(tried_[best->place].given);
    if (std::ranges::find(stage_, known) == stage_.end()) stage_.push_back(known);
    queue_.clear();
    for (const std::size_t i : stage_) {
      if (!tried_[i].is_measured()) queue_.insert(queue_.begin(), i);
    }
    round_ = 0;
    if (!queue_.empty()) return true;
  }
  return false;
}

}  // namespace stepscope::analysis
