#include "analysis/loading/loader_sweep.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

#include <fmt/format.h>

namespace stepscope::analysis {
namespace {

using base::Cell;
using base::Null;
using base::Type;
using base::Unit;

constexpr std::array kLoaderSweepSettingColumns = std::to_array<base::ColumnShape>({
    {"setting", Type::kText, Unit::kNone, "what distinguishes it from the others"},
    {"num_workers", Type::kInt, Unit::kCount, "processes that make batches; 0: the loop itself"},
    {"persistent_workers", Type::kBool, Unit::kNone, "they stay from one pass to the next"},
    {"pin_memory", Type::kBool, Unit::kNone, "batches are copied to memory that GPUs read fast"},
    {"non_blocking", Type::kBool, Unit::kNone,
     "copies to the GPU are not waited for; not known of finished jobs"},
    {"prefetch_factor", Type::kInt, Unit::kCount, "batches each worker makes ahead"},
    {"drop_last", Type::kBool, Unit::kNone, "a last batch that is not full is left out"},
    {"batch_size", Type::kInt, Unit::kCount, "samples of a batch"},
    {"loading_time_ns", Type::kReal, Unit::kNanos,
     "per step: the loop waits for its batch, the beginning of passes shared out"},
    {"training_time_ns", Type::kReal, Unit::kNanos,
     "per step: what the loop does with the batch; empty: nothing"},
    {"samples_per_second", Type::kReal, Unit::kPerSecond, "empty: not known"},
    {"slower_share", Type::kReal, Unit::kShare,
     "takes longer than the best, per sample (per step where samples are not known)"},
    {"start_ns", Type::kReal, Unit::kNanos, "until the first batch of a pass came"},
    {"peak_bytes", Type::kInt, Unit::kBytes,
     "memory of all its processes, what they share counted once"},
    {"shared_bytes", Type::kInt, Unit::kBytes, "at most in /dev/shm, through which batches travel"},
    {"trials", Type::kInt, Unit::kCount, "processes that measured it"},
    {"steps", Type::kInt, Unit::kCount, "measured, without warm-up"},
    {"outcome", Type::kText, Unit::kNone,
     "best, as good, slower, not told apart; fastest tried, where others were not; or what went "
     "wrong"},
    {"job", Type::kText, Unit::kNone, "of the scheduler, or the run"},
});
constexpr std::array kBestColumns = std::to_array<base::ColumnShape>({
    {"keywords", Type::kText, Unit::kNone,
     "to be given to the DataLoader (non_blocking: to copies)"},
    {"confidence", Type::kReal, Unit::kShare,
     "that no other setting is faster by more than 2 %; empty: no other was measured, or some were "
     "not tried for want of time"},
    {"next_slower_share", Type::kReal, Unit::kShare, "how much longer the next best takes"},
    {"next", Type::kText, Unit::kNone, "the next best that is not as good"},
    {"as_good", Type::kInt, Unit::kCount,
     "settings that cannot be told apart from it, and ask for more"},
    {"by_sample", Type::kBool, Unit::kNone, "times were compared per sample, not per step"},
    {"not_told_apart", Type::kText, Unit::kNone,
     "settings of which any may be the fastest, this one first; empty: the best is sure enough"},
    {"tried", Type::kInt, Unit::kCount, "settings that were measured"},
    {"not_tried", Type::kInt, Unit::kCount, "settings that there was no time for"},
    {"left_out", Type::kInt, Unit::kCount,
     "combinations that were never meant to be tried: settings were varied one after the other"},
});
constexpr std::array<std::string_view, 2> kLoaderSweepTimes = {"loading_time_ns",
                                                               "training_time_ns"};
constexpr std::array kLoaderSweepTables = std::to_array<base::TableShape>({
    {"settings",
     "one setting, the best first",
     kLoaderSweepSettingColumns,
     {base::Chart::kStack, "setting", kLoaderSweepTimes}},
    {"best", "the setting to take", kBestColumns},
});

Cell switch_cell(const std::optional<std::int64_t>& value) {
  return value ? Cell(*value != 0) : Cell(Null{});
}

// Jobs that ran with the same settings are trials of one: which of them was faster is no choice.
struct Grouped {
  std::vector<TriedSetting> settings;
  std::vector<std::size_t> group;  // of each that was tried: its place in settings
};

Grouped grouped(std::span<const TriedSetting> tried) {
  Grouped out;
  for (const TriedSetting& one : tried) {
    const bool is_known = one.settings() != LoaderSettings() && one.trouble == TrialTrouble::kNone;
    const auto same = std::ranges::find_if(out.settings, [&](const TriedSetting& other) {
      return is_known && other.trouble == TrialTrouble::kNone && other.settings() == one.settings();
    });
    out.group.push_back(static_cast<std::size_t>(same - out.settings.begin()));
    if (same == out.settings.end()) {
      out.settings.push_back(one);
    } else {
      same->trials.insert(same->trials.end(), one.trials.begin(), one.trials.end());
    }
  }
  return out;
}

// Where none is called the best, the one that asks for least stands first.
void put_least_first(BestSetting& best, std::span<const TriedSetting> settings) {
  if (best.rivals.empty()) return;
  best.rivals.push_back(best.place);
  std::ranges::sort(best.rivals, {}, [&](std::size_t i) { return settings[i].settings(); });
  best.place = best.rivals.front();
  best.rivals.erase(best.rivals.begin());
  std::erase(best.as_good, best.place);
}

struct Ranked {
  std::vector<std::optional<LoaderScore>> scores;
  std::vector<std::size_t> order;   // the best first, those without times last
  std::optional<LoaderScore> best;  // or the fastest, where none is called that
};

Ranked rank(std::span<const TriedSetting> tried, const Grouped& groups,
            const std::optional<BestSetting>& best) {
  Ranked out;
  const bool by_sample = counts_samples(tried);
  for (const TriedSetting& one : tried) out.scores.push_back(score_of(one, by_sample));
  if (best) {
    const std::size_t to = best->rivals.empty() ? best->place : best->fastest;
    out.best = score_of(groups.settings[to], by_sample);
  }
  out.order.resize(tried.size());
  std::iota(out.order.begin(), out.order.end(), std::size_t{0});
  std::ranges::stable_sort(out.order, {}, [&](std::size_t i) {
    const bool in_trouble = tried[i].trouble != TrialTrouble::kNone;
    const double time = out.scores[i] ? out.scores[i]->per_ns : std::numeric_limits<double>::max();
    return std::tuple(!best || groups.group[i] != best->place, in_trouble, time);
  });
  return out;
}

std::size_t measured_settings(std::span<const TriedSetting> tried) {
  return static_cast<std::size_t>(std::ranges::count_if(tried, &TriedSetting::is_measured));
}

// What it was asked for, with the values that its loader has: a target may know better.
LoaderSettings asked_settings(const TriedSetting& one) {
  LoaderSettings out = one.settings();
  if (one.given == LoaderSettings()) return out;
  for (std::size_t i = 0; i < kLoaderSettings; ++i) {
    const auto setting = static_cast<LoaderSetting>(i);
    if (!one.given[setting]) out[setting].reset();
  }
  return out;
}

std::string outcome_of(const TriedSetting& one, std::size_t place,
                       const std::optional<BestSetting>& best, bool is_alone,
                       const SweepScene& scene) {
  if (!one.why.empty()) return one.why;
  if (!one.is_measured()) {
    if (scene.was_given_up) return "not tried: the target failed";
    return scene.was_stopped ? "not tried: stopped before" : "not tried: the budget ended";
  }
  if (!best || (is_alone && scene.out_of_time == 0)) return "the only one measured";
  const bool is_rival = std::ranges::find(best->rivals, place) != best->rivals.end();
  if (is_rival || (place == best->place && !best->rivals.empty())) return "not told apart";
  if (place == best->place) return scene.out_of_time > 0 ? "fastest tried" : "best";
  const bool alike = std::ranges::find(best->as_good, place) != best->as_good.end();
  return alike ? "as good" : "slower";
}

// Whatever process, worker or number of bytes it was.
bool is_same_reason(std::string_view one, std::string_view other) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto skip = [&](std::string_view text, std::size_t& at) {
    while (at < text.size() && is_digit(text[at])) ++at;
  };
  std::size_t i = 0;
  std::size_t j = 0;
  while (true) {
    skip(one, i);
    skip(other, j);
    if (i == one.size() || j == other.size()) return i == one.size() && j == other.size();
    if (one[i++] != other[j++]) return false;
  }
}

void add_loader_sweep_row(base::Table& table, std::span<const TriedSetting> tried,
                          std::size_t place, const Ranked& ranked, std::string_view label,
                          std::string_view outcome) {
  using enum LoaderSetting;
  const TriedSetting& one = tried[place];
  const LoaderSettings settings = one.settings();
  const std::optional<LoaderScore>& score = ranked.scores[place];
  const auto of_score = [&](auto value) { return score ? Cell(value(*score)) : Cell(Null{}); };
  Cell slower = Null{};
  if (score && ranked.best) slower = score->per_ns / ranked.best->per_ns - 1;
  table.add({label, settings[kNumWorkers], switch_cell(settings[kPersistentWorkers]),
             switch_cell(settings[kPinMemory]), switch_cell(settings[kNonBlocking]),
             settings[kPrefetchFactor], switch_cell(settings[kDropLast]), settings[kBatchSize],
             of_score([](const LoaderScore& s) { return s.loading_ns; }),
             score && score->trains ? Cell(score->training_ns) : Cell(Null{}),
             score ? Cell(score->samples_per_second) : Cell(Null{}), slower,
             of_score([](const LoaderScore& s) { return s.start_ns; }), one.peak_bytes,
             one.shared_bytes, of_score([](const LoaderScore& s) { return s.runs.size(); }),
             of_score([](const LoaderScore& s) { return s.steps; }), outcome,
             one.job.empty() ? Cell(Null{}) : Cell(one.job)});
}

// "num_workers=2, num_workers=4 and 3 more"
std::string group_text(const BestSetting& best, const std::vector<std::string>& labels) {
  constexpr std::size_t kShown = 4;
  std::string text = labels[best.place];
  for (std::size_t i = 0; i < std::min(kShown - 1, best.rivals.size()); ++i) {
    text += "; " + labels[best.rivals[i]];
  }
  if (best.rivals.size() >= kShown) {
    text += fmt::format("; and {} more", best.rivals.size() - kShown + 1);
  }
  return text;
}

void add_best(base::Table& table, const Grouped& groups, const BestSetting& best,
              const SweepScene& scene) {
  const std::vector<TriedSetting>& settings = groups.settings;
  const std::vector<std::string> labels = setting_labels(settings);
  const bool by_sample = counts_samples(settings);
  const std::size_t measured = measured_settings(settings);
  const double time = score_of(settings[best.place], by_sample)->per_ns;
  const bool is_complete = scene.out_of_time == 0;
  table.add({keywords_text(asked_settings(settings[best.place])),
             measured > 1 && is_complete ? Cell(best.confidence) : Cell(Null{}),
             best.next ? Cell(score_of(settings[*best.next], by_sample)->per_ns / time - 1)
                       : Cell(Null{}),
             best.next ? Cell(labels[*best.next]) : Cell(Null{}), best.as_good.size(), by_sample,
             best.rivals.empty() ? Cell(Null{}) : Cell(group_text(best, labels)), measured,
             scene.out_of_time, scene.not_tried - std::min(scene.not_tried, scene.out_of_time)});
}

std::string gib_text(base::Bytes bytes) {
  constexpr double kMib = 1024.0 * 1024;
  const double mib = static_cast<double>(bytes) / kMib;
  return mib < 1024 ? fmt::format("{:.0f} MiB", mib) : fmt::format("{:.1f} GiB", mib / 1024);
}

// Workers and the loop want a CPU each.
void warn_of_cpus(Answer& answer, std::span<const TriedSetting> tried, unsigned cpus) {
  std::int64_t most = 0;
  for (const TriedSetting& one : tried) {
    if (one.is_measured() || !one.why.empty()) most = std::max(most, one.settings().workers());
  }
  if (most <= static_cast<std::int64_t>(cpus)) return;
  answer.remarks.emplace_back(fmt::format(
      "Up to {} workers were tried and the job has {} {} (by affinity, cgroup and Slurm): more "
      "workers than CPUs help only where they wait for storage, and slow down a loop that computes "
      "on the CPU.",
      most, cpus, cpus == 1 ? "CPU" : "CPUs"));
}

// Jobs that have run, each with processors of its own: the one that had least for its workers.
void warn_of_job_cpus(Answer& answer, std::span<const TriedSetting> tried) {
  const TriedSetting* worst = nullptr;
  const auto lack = [](const TriedSetting& one) {
    return static_cast<double>(one.settings().workers()) - one.job_cpus.value_or(0);
  };
  for (const TriedSetting& one : tried) {
    if (!one.job_cpus || !one.is_measured() || lack(one) <= 0) continue;
    if (worst == nullptr || lack(one) > lack(*worst)) worst = &one;
  }
  if (worst == nullptr) return;
  answer.remarks.emplace_back(
      fmt::format("Job {} ran {} workers and a rank of it had {:.3g} {}: more workers than CPUs "
                  "help only where "
                  "they wait for storage, and slow down a loop that computes on the CPU.",
                  worst->job, worst->settings().workers(), *worst->job_cpus,
                  *worst->job_cpus == 1 ? "CPU" : "CPUs"));
}

void warn_of_memory(Answer& answer, std::span<const TriedSetting> tried,
                    const std::vector<std::string>& labels, const SweepScene& scene) {
  constexpr double kMuch = 0.5;
  const auto warn = [&](std::string_view what, std::optional<base::Bytes> limit, auto used,
                        std::string_view todo) {
    if (!limit || *limit <= 0) return;
    std::string names;
    for (std::size_t i = 0; i < tried.size(); ++i) {
      const auto bytes = used(tried[i]);
      if (!bytes || static_cast<double>(*bytes) < kMuch * static_cast<double>(*limit)) continue;
      names += fmt::format("{}{} ({})", names.empty() ? "" : "; ", labels[i], gib_text(*bytes));
    }
    if (names.empty()) return;
    answer.remarks.emplace_back(
        fmt::format("More than half of {} ({}): {}. {}", what, gib_text(*limit), names, todo));
  };
  warn(
      "the memory that trials were allowed", scene.memory_limit,
      [](const TriedSetting& one) { return one.peak_bytes; },
      "In training the model and other ranks of the node need memory too: a job that goes beyond "
      "its limit is killed. Each worker holds what the dataset keeps in Python objects, and "
      "prefetch_factor batches.");
  warn(
      "/dev/shm", scene.shared_limit, [](const TriedSetting& one) { return one.shared_bytes; },
      "Batches travel through it; a worker that finds it full dies of a bus error. In a container "
      "its size is an option (docker run --shm-size).");
}

// The first trials read from a disk and the others did not: times are of memory.
void warn_of_cache(Answer& answer, std::span<const TriedSetting> tried) {
  std::int64_t first = 0;
  std::int64_t later = 0;
  std::size_t trials = 0;
  for (const TriedSetting& one : tried) {
    for (const LoaderTrial& trial : one.trials) {
      if (!trial.storage_bytes) continue;
      (trials == 0 ? first : later) += *trial.storage_bytes;
      ++trials;
    }
  }
  constexpr std::int64_t kLittle = 16 << 20;
  if (trials < 2 || first < kLittle || later > first / 10) return;
  answer.remarks.emplace_back(
      "The first trial read its data from storage and the others found it in memory: a dataset "
      "that "
      "does not fit into memory loads slower than this, and may want more workers.");
}

void warn_of_told(Answer& answer, std::span<const TriedSetting> tried) {
  for (std::size_t i = 0; i < kLoaderSettings; ++i) {
    const auto setting = static_cast<LoaderSetting>(i);
    for (const TriedSetting& one : tried) {
      const auto& given = one.given[setting];
      const auto& told = one.told[setting];
      if (!given || !told || *given == *told) continue;
      answer.remarks.emplace_back(fmt::format(
          "The target was given {0}={1}, and its loader has {0}={2}: it does not pass it on.",
          info_of(setting).name, python_text(setting, *given), python_text(setting, *told)));
      break;
    }
  }
}

void warn_of_untried(Answer& answer, const SweepScene& scene) {
  const auto were = [](std::size_t count) { return count == 1 ? "was" : "were"; };
  if (scene.out_of_time > 0 && scene.was_given_up) {
    answer.remarks.emplace_back(
        fmt::format("{} {} {} not tried: the target failed, and would again.", scene.out_of_time,
                    scene.out_of_time == 1 ? "setting" : "settings", were(scene.out_of_time)));
  } else if (scene.out_of_time > 0) {
    answer.remarks.emplace_back(fmt::format(
        "{} {} {} not tried: {}, and any of them may be the fastest.", scene.out_of_time,
        scene.out_of_time == 1 ? "setting" : "settings", were(scene.out_of_time),
        scene.was_stopped ? "it was stopped before"
                          : "the budget ended before (a larger --budget tries them)"));
  }
  if (scene.not_tried > scene.out_of_time) {
    const std::size_t left_out = scene.not_tried - scene.out_of_time;
    answer.remarks.emplace_back(fmt::format(
        "{} of the combinations of these values {} left out: of so many, settings are varied one "
        "after the other, and those {} not tried.",
        left_out, were(left_out), were(left_out)));
  }
}

}  // namespace

std::vector<std::string> setting_labels(std::span<const TriedSetting> tried) {
  std::vector<std::string> out;
  std::array<bool, kLoaderSettings> differs{};
  for (std::size_t i = 0; i < kLoaderSettings; ++i) {
    const auto setting = static_cast<LoaderSetting>(i);
    const bool is_of_workers =
        setting == LoaderSetting::kPrefetchFactor || setting == LoaderSetting::kPersistentWorkers;
    // What was asked for; of finished jobs, what their loaders had.
    std::optional<std::optional<std::int64_t>> first;
    for (const TriedSetting& one : tried) {
      const bool was_asked = one.given != LoaderSettings();
      if (!was_asked && one.told == LoaderSettings()) continue;
      if (is_of_workers && one.settings().workers() == 0) continue;  // it means nothing
      const auto& value = was_asked ? one.given[setting] : one.told[setting];
      if (!first) first = value;
      differs[i] = differs[i] || value != *first;
    }
  }
  const bool any = std::ranges::find(differs, true) != differs.end();
  for (const TriedSetting& one : tried) {
    LoaderSettings shown = one.trouble == TrialTrouble::kSame ? one.given : one.settings();
    for (std::size_t i = 0; any && i < kLoaderSettings; ++i) {
      if (!differs[i]) shown[static_cast<LoaderSetting>(i)].reset();
    }
    std::string label = keywords_text(shown);
    if (label.empty()) label = one.job.empty() ? "as the target has it" : one.job;
    out.push_back(std::move(label));
  }
  return out;
}

Answer loader_sweep(std::span<const TriedSetting> tried, const SweepScene& scene) {
  Answer answer;
  base::Table settings(kLoaderSweepTables[0]);
  base::Table chosen(kLoaderSweepTables[1]);
  const Grouped groups = grouped(tried);
  std::optional<BestSetting> best = best_setting(groups.settings);
  if (best) put_least_first(*best, groups.settings);
  const bool is_alone = measured_settings(groups.settings) < 2;
  const Ranked ranked = rank(tried, groups, best);
  const std::vector<std::string> labels = setting_labels(tried);
  std::vector<std::string> reasons;  // of failures that were told
  for (const std::size_t place : ranked.order) {
    std::string outcome = outcome_of(tried[place], groups.group[place], best, is_alone, scene);
    if (!tried[place].why.empty()) {
      const auto told = std::ranges::find_if(
          reasons, [&](const std::string& reason) { return is_same_reason(reason, outcome); });
      if (told == reasons.end()) {
        reasons.push_back(outcome);
      } else {
        outcome = "failed as the one above";
      }
    }
    add_loader_sweep_row(settings, tried, place, ranked, labels[place], outcome);
  }
  if (best) add_best(chosen, groups, *best, scene);
  answer.tables.push_back(std::move(settings));
  answer.tables.push_back(std::move(chosen));
  for (const std::string& sentence : scene.said) answer.remarks.emplace_back(sentence);
  warn_of_told(answer, tried);
  if (scene.cpus) warn_of_cpus(answer, tried, *scene.cpus);
  warn_of_job_cpus(answer, tried);
  warn_of_memory(answer, tried, labels, scene);
  warn_of_cache(answer, tried);
  warn_of_untried(answer, scene);
  return answer;
}

const Analysis kLoaderSweep{
    .name = "loader-sweep",
    .title = "Settings of the loader",
    .question = "Which settings of the DataLoader are fastest?",
    .parameters = {},
    .tables = kLoaderSweepTables,
    .run = nullptr,
    .needs = Needs::kRecording,
};

}  // namespace stepscope::analysis
