// Reads the recorded waits and batches of watched loaders, and matches them.
#include "analysis/loading/loader_records.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "analysis/recording/recorded_steps.h"
#include "base/parallel.h"
#include "trace/process_record.h"

namespace stepscope::analysis {
namespace {

using base::Nanos;
using base::StringId;
using trace::Row;

// What a name of a record is about, as python/stepscope/recording/loading/names.py makes it.
enum class Sign : std::uint8_t {
  kNone,
  kBegin,
  kWait,
  kLoad,
  kStarts,
  kEnds,
  kPid,
  kReady,
  kSamples,
  kWorker,
  kIteration,
  kBatch,
  kTransform,
  kCollate,
  kCpu,
  kStarved,
  kReadBytes,
  kStorageBytes,
  kFiles,
  kBatchBytes,
  kAhead,
  kSetting,  // of the loader
};

struct SignName {
  std::string_view text;
  Sign sign;
};
constexpr std::array kSigns = std::to_array<SignName>({
    {"begin loading", Sign::kBegin},
    {"wait for data", Sign::kWait},
    {"load batch", Sign::kLoad},
    {"loader starts", Sign::kStarts},
    {"loader ends", Sign::kEnds},
    {"loader pid", Sign::kPid},
    {"loader ready", Sign::kReady},
    {"loader samples", Sign::kSamples},
    {"loader worker", Sign::kWorker},
    {"loader iteration", Sign::kIteration},
    {"loader batch", Sign::kBatch},
    {"loader transform_ns", Sign::kTransform},
    {"loader collate_ns", Sign::kCollate},
    {"loader cpu_ns", Sign::kCpu},
    {"loader starved_ns", Sign::kStarved},
    {"loader read_bytes", Sign::kReadBytes},
    {"loader storage_bytes", Sign::kStorageBytes},
    {"loader files", Sign::kFiles},
    {"loader batch_bytes", Sign::kBatchBytes},
    {"loader ahead", Sign::kAhead},
});

struct Meaning {
  Sign sign = Sign::kNone;
  std::uint32_t loader = 0;  // in Reading::loaders_
  LoaderSetting setting = {};
};

// One loader on one thread, while its rows are gone through in time order.
struct LoaderPass {
  std::vector<std::int64_t> pids;
  std::int64_t iteration = 0;
  std::optional<std::int64_t> worker;
  bool begins = true;                            // the next wait is the first
  Nanos beginning = 0;                           // making its iterator took
  bool ahead = false;                            // a batch is used when the next was asked for
  std::size_t held = kNoBatch;                   // the wait whose batch is kept back
  std::size_t wait = kNoBatch, made = kNoBatch;  // the last ones
  std::size_t left = kNoBatch;                   // the wait after which the loop said it ends
};

struct ProcessLoading {
  std::vector<BatchWait> waits;
  std::vector<MadeBatch> made;
  std::map<std::string, LoaderSettings> settings;
};

class Reading {
 public:
  Reading(const WindowView& view, Nanos zero)
      : view_(view), trace_(*view.trace), meanings_(trace_.strings().size()) {
    const trace::Clock& clock = trace_.clock();
    shift_ = clock.base_ns + clock.offset_ns - zero;
    pid_ = trace_.header().process_record->pid.value_or(0);
    for (StringId id = 0; id < meanings_.size(); ++id) meanings_[id] = meaning_of(trace_.text(id));
  }

  ProcessLoading run() {
    if (loaders_.empty()) return {};
    for (const trace::Track& track : trace_.tracks()) {
      passes_.assign(loaders_.size(), {});
      is_beside_ = marks_no_steps(track);
      for (Row row = track.begin; row < track.end; ++row) take(row);
    }
    for (MadeBatch& one : out_.made) shift(one.start, one.end);
    for (BatchWait& one : out_.waits) {
      shift(one.start, one.end);
      one.until = std::max(one.until + shift_, one.end);
      one.used = std::max(one.used + shift_, one.end);
    }
    set_validation_aside();
    return std::move(out_);
  }

 private:
  Meaning meaning_of(std::string_view text) {
    const std::size_t mark = text.find('#');
    if (mark == std::string_view::npos) return {};
    Meaning meaning = meaning_of_sign(text.substr(0, mark));
    if (meaning.sign == Sign::kNone) return {};
    const std::string_view loader = text.substr(mark + 1);
    const auto known = std::ranges::find(loaders_, loader);
    meaning.loader = static_cast<std::uint32_t>(known - loaders_.begin());
    if (known == loaders_.end()) loaders_.emplace_back(loader);
    return meaning;
  }

  static Meaning meaning_of_sign(std::string_view text) {
    constexpr std::string_view kLoader = "loader ";
    const auto* const found = std::ranges::find(kSigns, text, &SignName::text);
    if (found != kSigns.end()) return {.sign = found->sign};
    if (!text.starts_with(kLoader)) return {};
    const auto setting = find_loader_setting(text.substr(kLoader.size()));
    return setting ? Meaning{.sign = Sign::kSetting, .setting = *setting} : Meaning{};
  }

  // Though others of its process do.
  bool marks_no_steps(const trace::Track& track) const {
    const std::vector<std::string>& threads = trace_.header().process_record->step_threads;
    return track.tid && !threads.empty() &&
           std::ranges::find(threads, track.thread) == threads.end();
  }

  void shift(Nanos& start, Nanos& end) const {
    start += shift_;
    end += shift_;
  }

  // A loop that validates between two batches does not work on a batch meanwhile.
  void set_validation_aside() {
    const auto trains = [](const BatchWait& one) { return one.phase == kTraining && !one.beside; };
    if (std::ranges::none_of(out_.waits, trains)) return;
    Intervals declared = set_aside(view_);
    for (Interval& one : declared) shift(one.start, one.end);
    for (BatchWait& one : out_.waits) {
      if (!trains(one)) continue;
      auto next = std::ranges::upper_bound(declared, one.end, {}, &Interval::end);
      for (; next != declared.end() && next->start < one.until; ++next) {
        one.aside.push_back({std::max(next->start, one.end), std::min(next->end, one.until)});
      }
    }
  }

  void take(Row row) {
    if (trace_.name()[row] == base::kNoString) return;
    const Meaning meaning = meanings_[trace_.name()[row]];
    if (meaning.sign == Sign::kNone || (trace_.flags()[row] & trace::kFarTime) != 0) return;
    LoaderPass& pass = passes_[meaning.loader];
    const Nanos time = trace_.start()[row];
    switch (trace_.phase()[row]) {
      case trace::Phase::kSpan:
        if ((trace_.flags()[row] & (trace::kUnclosed | trace::kBadDuration)) != 0) return;
        if (meaning.sign == Sign::kBegin) {
          end_wait(pass, time);
          pass.beginning = trace_.duration()[row];
        }
        if (meaning.sign == Sign::kWait) begin_wait(pass, row, loaders_[meaning.loader]);
        if (meaning.sign == Sign::kLoad) begin_load(pass, row, loaders_[meaning.loader]);
        return;
      case trace::Phase::kInstant:
        if (meaning.sign == Sign::kStarts) {
          pass.pids.clear();
          pass.begins = true;
          pass.ahead = false;
          pass.held = kNoBatch;
          pass.left = kNoBatch;
        }
        if (meaning.sign == Sign::kEnds) {
          if (pass.wait != kNoBatch) pass.left = pass.wait;
          end_wait(pass, time);
        }
        return;
      case trace::Phase::kCounter:
        if (const auto value = value_of(row)) {
          if (meaning.sign == Sign::kSetting) {
            out_.settings[loaders_[meaning.loader]][meaning.setting] = value;
          } else {
            take_value(pass, meaning.sign, time, *value);
          }
        }
        return;
      default:
        return;
    }
  }

  std::optional<std::int64_t> value_of(Row row) const {
    const auto rows = trace_.counters().row.span();
    const auto found = std::ranges::lower_bound(rows, row);
    if (found == rows.end() || *found != row) return std::nullopt;
    const double value =
        trace_.counters().value.span()[static_cast<std::size_t>(found - rows.begin())];
    constexpr double kMost = 9e18;
    if (!(value >= -kMost && value <= kMost)) return std::nullopt;
    return static_cast<std::int64_t>(value);
  }

  void begin_wait(LoaderPass& pass, Row row, const std::string& loader) {
    end_wait(pass, trace_.start()[row]);
    // It had turned to validation, and came back for more of the same pass.
    if (pass.left != kNoBatch) out_.waits[pass.left].until = trace_.start()[row];
    pass.left = kNoBatch;
    pass.wait = out_.waits.size();
    if (pass.ahead) {
      if (pass.held != kNoBatch) out_.waits[pass.held].used = trace_.end(row);
      pass.held = pass.wait;
    }
    out_.waits.push_back({.loader = loader,
                          .phase = phase_of(row, loader),
                          .start = trace_.start()[row],
                          .end = trace_.end(row),
                          .before = pass.begins ? std::exchange(pass.beginning, 0) : 0,
                          .until = trace_.end(row),
                          .used = trace_.end(row),
                          .iteration = pass.iteration,
                          .counts = view_.counts_at(trace_.start()[row]),
                          .first = std::exchange(pass.begins, false),
                          .beside = is_beside_});
  }

  std::string phase_of(Row row, std::string_view loader) const {
    if (const std::string_view phase = told_phase(loader); !phase.empty())
      return std::string(phase);
    for (Row above = trace_.parent()[row]; above != trace::kNoRow; above = trace_.parent()[above]) {
      const std::string_view found = phase_of_range(trace_.name_text(above));
      if (!found.empty()) return std::string(found);
    }
    return std::string(kTraining);
  }

  void end_wait(LoaderPass& pass, Nanos time) {
    if (pass.wait == kNoBatch) return;
    out_.waits[pass.wait].until = time;
    pass.wait = kNoBatch;
  }

  void begin_load(LoaderPass& pass, Row row, const std::string& loader) {
    pass.made = out_.made.size();
    out_.made.push_back({.loader = loader,
                         .start = trace_.start()[row],
                         .end = trace_.end(row),
                         .pid = pid_,
                         .worker = pass.worker,
                         .iteration = pass.iteration,
                         .counts = view_.counts_at(trace_.start()[row])});
    // The loop makes its batch itself.
    if (pass.wait != kNoBatch && trace_.start()[row] < out_.waits[pass.wait].end) {
      out_.waits[pass.wait].made = pass.made;
    }
  }

  void take_value(LoaderPass& pass, Sign sign, Nanos time, std::int64_t value) {
    if (sign == Sign::kPid) {
      pass.pids.push_back(value);
    } else if (sign == Sign::kIteration) {
      pass.iteration = value;
    } else if (sign == Sign::kAhead) {
      pass.ahead = value != 0;
    } else if (pass.wait != kNoBatch && time >= out_.waits[pass.wait].end) {
      take_of_wait(pass, out_.waits[pass.wait], sign, value);
    } else if (pass.made != kNoBatch && time >= out_.made[pass.made].end) {
      take_of_load(out_.made[pass.made], sign, value);
    } else if (sign == Sign::kWorker) {
      pass.worker = value;
    }
  }

  static void take_of_wait(const LoaderPass& pass, BatchWait& wait, Sign sign, std::int64_t value) {
    if (sign == Sign::kReady) wait.ready = value;
    if (sign == Sign::kSamples) wait.samples = value;
    if (sign == Sign::kBatch) wait.number = value;
    if (sign == Sign::kWorker) {
      wait.worker = value;
      if (value >= 0 && static_cast<std::size_t>(value) < pass.pids.size()) {
        wait.pid = pass.pids[static_cast<std::size_t>(value)];
      }
    }
  }

  static void take_of_load(MadeBatch& made, Sign sign, std::int64_t value) {
    switch (sign) {
      case Sign::kBatch:
        made.number = value;
        break;
      case Sign::kSamples:
        made.samples = value;
        break;
      case Sign::kTransform:
        made.transform_ns = value;
        break;
      case Sign::kCollate:
        made.collate_ns = value;
        break;
      case Sign::kCpu:
        made.cpu_ns = value;
        break;
      case Sign::kStarved:
        made.starved_ns = value;
        break;
      case Sign::kReadBytes:
        made.read_bytes = value;
        break;
      case Sign::kBatchBytes:
        made.batch_bytes = value;
        break;
      case Sign::kStorageBytes:
        made.storage_bytes = value;
        break;
      case Sign::kFiles:
        made.files = value;
        break;
      default:
        break;
    }
  }

  const WindowView& view_;
  const trace::Trace& trace_;
  std::vector<std::string> loaders_;
  std::vector<Meaning> meanings_;   // by name
  std::vector<LoaderPass> passes_;  // by loader, of one thread
  bool is_beside_ = false;          // that thread
  Nanos shift_ = 0;
  std::int64_t pid_ = 0;
  ProcessLoading out_;
};

auto identity(const MadeBatch& one) {
  return std::tie(one.loader, one.pid, one.iteration, one.number);
}

// A batch that a worker made belongs to the one wait that received it.
void match(RankLoading& rank) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < rank.made.size(); ++i) {
    if (rank.made[i].worker) order.push_back(i);
  }
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
    return identity(rank.made[a]) < identity(rank.made[b]);
  });
  for (BatchWait& wait : rank.waits) {
    if (wait.made != kNoBatch || !wait.pid || !wait.number) continue;
    const auto wanted = std::tie(wait.loader, *wait.pid, wait.iteration, *wait.number);
    const auto found = std::ranges::lower_bound(
        order, wanted, {}, [&](std::size_t i) { return identity(rank.made[i]); });
    if (found != order.end() && identity(rank.made[*found]) == wanted) wait.made = *found;
  }
}

// Those that were not finished are no batches: the end of a pass, or an error of the dataset.
void put_together(RankLoading& rank, ProcessLoading&& process) {
  rank.settings.merge(process.settings);
  std::vector<std::size_t> moved(process.made.size(), kNoBatch);
  for (std::size_t i = 0; i < process.made.size(); ++i) {
    if (process.made[i].number < 0) continue;
    moved[i] = rank.made.size();
    rank.made.push_back(std::move(process.made[i]));
  }
  for (BatchWait& wait : process.waits) {
    if (wait.made != kNoBatch) wait.made = moved[wait.made];
    rank.waits.push_back(std::move(wait));
  }
}

}  // namespace

Nanos MadeBatch::fetch_ns() const {
  return std::max<Nanos>(0, length() - transform_ns.value_or(0) - collate_ns.value_or(0));
}

std::map<std::int32_t, RankLoading> loading_by_rank(const RunView& view) {
  const Nanos zero = recording_start(view);
  std::vector<ProcessLoading> partials(view.recordings.size());
  base::parallel_for(partials.size(), view.threads,
                     [&](std::size_t i) { partials[i] = Reading(view.recordings[i], zero).run(); });
  std::map<std::int32_t, RankLoading> ranks;
  for (std::size_t i = 0; i < partials.size(); ++i) {
    if (partials[i].waits.empty() && partials[i].made.empty()) continue;
    put_together(ranks[view.recordings[i].rank], std::move(partials[i]));
  }
  for (auto& [number, rank] : ranks) {
    match(rank);
    std::ranges::stable_sort(rank.waits, {}, &BatchWait::start);
  }
  return ranks;
}

std::string_view name_of(LateCause cause) {
  switch (cause) {
    case LateCause::kUnknown:
      break;
    case LateCause::kFetchWait:
      return "fetch, waiting";
    case LateCause::kFetchWork:
      return "fetch, computing";
    case LateCause::kTransform:
      return "transform";
    case LateCause::kCollate:
      return "collate";
    case LateCause::kNoCore:
      return "no free core";
    case LateCause::kStartUp:
      return "start-up";
    case LateCause::kHandOver:
      return "hand-over";
  }
  return "";
}

LateCause why_late(const BatchWait& wait, const MadeBatch* made) {
  if (wait.before > wait.length() / 2) return LateCause::kStartUp;
  if (made == nullptr) return LateCause::kUnknown;
  if (made->end <= wait.start) return LateCause::kHandOver;
  // Processes start, import and open the dataset before they make anything.
  if (wait.first && made->worker && wait.before + made->start - wait.start > wait.length() / 2) {
    return LateCause::kStartUp;
  }
  const Nanos length = made->length();
  const Nanos starved = made->starved_ns.value_or(0);
  if (starved > length / 2) return LateCause::kNoCore;
  const Nanos fetch = made->fetch_ns();
  const Nanos transform = made->transform_ns.value_or(0);
  const Nanos collate = made->collate_ns.value_or(0);
  if (transform >= fetch && transform >= collate) return LateCause::kTransform;
  if (collate > fetch) return LateCause::kCollate;
  // Which part of the batch the processor time went into is not known; it stands for all of it.
  const Nanos idle = length - starved - made->cpu_ns.value_or(length);
  return idle > length / 2 ? LateCause::kFetchWait : LateCause::kFetchWork;
}

}  // namespace stepscope::analysis
