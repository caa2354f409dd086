#include "analysis/loading/loader_remarks.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace stepscope::analysis {
namespace {

using base::Nanos;

// Below this the loader keeps up.
constexpr double kWorthSaying = 0.01;
constexpr double kWorthSayingOfStep = 0.1;
// Less than this in all is no waiting: a loop that does nothing may spend all its time so.
constexpr Nanos kNothing = 1'000'000;
// Longer than this, of the time of the loop, the end of its passes is worth a word.
constexpr double kEndMatters = 0.05;
// Where less than this share of the waiting remains, starting up is worth a word.
constexpr double kFirstMatters = 0.8;

std::string percent(double share) {
  const double value = 100 * share;
  return value < 9.95 ? fmt::format("{:.1f} %", value) : fmt::format("{:.0f} %", value);
}

std::string bytes_text(std::int64_t bytes) {
  constexpr std::array<std::string_view, 5> kUnits = {"B", "kB", "MB", "GB", "TB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 999.5 && unit + 1 < kUnits.size(); ++unit) value /= 1000;
  return fmt::format("{:.{}f} {}", value, unit > 0 && value < 9.95 ? 1 : 0, kUnits[unit]);
}

// "80 % of its time in transform".
std::string largest_part(const MadeSums& made) {
  struct Part {
    std::string_view name;
    std::optional<double> share;
  };
  const std::array<Part, 3> parts = {Part{"fetch", made.share_of(made.fetch_ns)},
                                     Part{"transform", made.share_of(made.transform_ns.value())},
                                     Part{"collate", made.share_of(made.collate_ns.value())}};
  const auto* const most =
      std::ranges::max_element(parts, {}, [](const Part& part) { return part.share.value_or(-1); });
  if (!most->share) return {};
  return fmt::format("{} of its time in {}", percent(*most->share), most->name);
}

std::string about_worker(const MadeSums& made) {
  std::string text;
  if (made.read_bytes.sum > 0) text = bytes_text(made.read_bytes.sum) + " read";
  if (made.files.known && made.files.sum > 0) {
    text += fmt::format(" from {} file{}", made.files.sum, made.files.sum == 1 ? "" : "s");
  }
  if (const std::string part = largest_part(made); !part.empty()) {
    text += (text.empty() ? "" : ", ") + part;
  }
  return text;
}

// "worker 3 read 48 MB".
std::string meanwhile(const LoaderStep& step) {
  const MadeBatch* const made = step.made;
  const std::string who = step.longest->worker ? fmt::format("worker {}", *step.longest->worker)
                          : made != nullptr    ? std::string("the loop")
                                               : std::string("the loop waited for data");
  if (made == nullptr) return step.longest->worker ? who + " was waited for" : who;
  if (!made->read_bytes || *made->read_bytes == 0) return who + " made its batch";
  return fmt::format("{} read {}", who, bytes_text(*made->read_bytes));
}

std::string title_of(const LoaderKey& key) {
  return key.phase == "training" || key.loader.ends_with(fmt::format(" ({})", key.phase))
             ? key.loader
             : fmt::format("{} ({})", key.loader, key.phase);
}

// What the shares do not have: nobody waits for data, and it lies in no step.
std::string about_end(const LoaderSums& sums) {
  if (sums.end_ns < kNothing ||
      static_cast<double>(sums.end_ns) < kEndMatters * static_cast<double>(sums.time.whole)) {
    return {};
  }
  return fmt::format(
      " After the last batch of {} it took {:.3g} s to come to an end{}: that is no "
      "waiting for data, and in no share.",
      sums.passes == 1 ? "the pass" : fmt::format("its {} passes", sums.passes),
      static_cast<double>(sums.end_ns) * 1e-9, sums.workers.empty() ? "" : ", with its workers");
}

std::string sentence(const LoaderKey& key, const LoaderSums& sums, double share,
                     const std::optional<double>& gpu_idle) {
  if (sums.beside) {
    return fmt::format(
        "{} is read ahead of the loop by a thread of its own, which waited {} of the time; how "
        "long the loop waited for that thread is not known: watch what the loop iterates over.",
        title_of(key), percent(share));
  }
  std::string text =
      fmt::format("{} kept the loop waiting {} of the time", title_of(key), percent(share));
  if (share < kWorthSaying || sums.waits.sum() < kNothing) {
    return text + ": it keeps up." + about_end(sums);
  }
  const double later = sums.later_wait_share();
  if (later < kFirstMatters * share) {
    text += fmt::format(", but {} without the first batch of {}", percent(later),
                        sums.passes == 1 ? "the pass" : fmt::format("its {} passes", sums.passes));
    if (later < kWorthSaying) return text + ": from then on it keeps up." + about_end(sums);
  }
  if (const auto worst = sums.late_worker()) {
    const WorkerSums& worker = sums.workers.at(*worst);
    text += fmt::format("; worker {} was late in {} of {} batches", *worst, worker.late,
                        sums.waits.count());
    if (const std::string more = about_worker(worker.made); !more.empty()) text += ": " + more;
  } else if (sums.workers.empty() && sums.made.lengths.count() > 0) {
    text += "; it has no workers, the loop makes its batches itself: " + about_worker(sums.made);
  }
  text += '.';
  text += about_end(sums);
  if (gpu_idle) {
    text += fmt::format(" The GPU was idle {} of the time meanwhile, as its driver counts.",
                        percent(*gpu_idle));
  }
  return text;
}

}  // namespace

void LoaderRemarks::add(std::int32_t rank, const LoaderKey& key, const LoaderSums& sums,
                        const std::optional<double>& gpu_idle) {
  if (sums.waits.count() == 0 || sums.time.whole <= 0) return;
  const double share = sums.wait_share();
  const auto [found, is_new] = worst_.try_emplace(key);
  if (!is_new && share <= found->second.share) return;
  found->second = {share, rank, sentence(key, sums, share, gpu_idle)};
}

void LoaderRemarks::add_step(std::int32_t rank, const LoaderStep& step,
                             const std::optional<double>& gpu_idle) {
  if (!gpu_idle || step.longest == nullptr || step.wait_ns <= longest_) return;
  const double share =
      static_cast<double>(step.wait_ns) / static_cast<double>(std::max(step.step.length, Nanos{1}));
  if (share < kWorthSayingOfStep) return;
  longest_ = step.wait_ns;
  step_ = {share, rank,
           fmt::format("step {} waited longest: the GPU was idle {} of the step while {}.",
                       step.step.number, percent(*gpu_idle), meanwhile(step))};
}

std::vector<std::string> LoaderRemarks::sentences(bool several_ranks) const {
  std::vector<std::string> out;
  out.reserve(worst_.size());
  for (const auto& [key, said] : worst_) {
    out.push_back(several_ranks ? fmt::format("Rank {}: {}", said.rank, said.text) : said.text);
  }
  if (longest_ > 0) {
    out.push_back(several_ranks ? fmt::format("On rank {} {}", step_.rank, step_.text)
                                : fmt::format("Of the steps, {}", step_.text));
  }
  return out;
}

}  // namespace stepscope::analysis
