#include "cli/sweep/loader_trial.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "cli/program/group_memory.h"
#include "doctor/subprocess.h"
#include "report/writing/json_writer.h"
#include "report/writing/numbers.h"
#include "session/machine.h"

namespace stepscope::cli {
namespace {

using analysis::LoaderSetting;
using analysis::TrialTrouble;
using Clock = std::chrono::steady_clock;

std::vector<std::string> all_keywords() {
  std::vector<std::string> names;
  names.reserve(analysis::kLoaderSettings);
  for (const analysis::LoaderSettingInfo& info : analysis::kLoaderSettingInfos) {
    names.emplace_back(info.name);
  }
  return names;
}

std::string request_for(const TrialRunner& runner, const analysis::LoaderSettings& given,
                        const std::vector<std::string>& takes, const analysis::NextTrial& next) {
  report::JsonWriter json;
  json.begin_object();
  json.member("target", runner.target);
  json.key("names");
  json.begin_list();
  for (const std::string& name : takes) json.value(name);
  json.end_list();
  json.key("keywords");
  json.begin_object();
  for (std::size_t i = 0; i < analysis::kLoaderSettings; ++i) {
    const auto setting = static_cast<LoaderSetting>(i);
    const analysis::LoaderSettingInfo& info = analysis::info_of(setting);
    const bool needs_workers =
        setting == LoaderSetting::kPrefetchFactor || setting == LoaderSetting::kPersistentWorkers;
    if (given[setting] && info.is_switch) {
      json.member(info.name, *given[setting] != 0);
    } else if (given[setting]) {
      json.member(info.name, *given[setting]);
    } else if (needs_workers && given[LoaderSetting::kNumWorkers] == 0) {
      // torch refuses them without workers, and the target's default may be another.
      json.key(info.name);
      if (info.is_switch) {
        json.value(false);
      } else {
        json.null();
      }
    }
  }
  json.end_object();
  json.member("seconds", next.seconds);
  json.key("hopeless_ns");
  if (next.hopeless_ns) {
    json.value(*next.hopeless_ns);
  } else {
    json.null();
  }
  json.member("per_sample", next.by_sample);
  json.end_object();
  return std::move(json).finish();
}

// Looks at a trial's memory while it runs, and ends it before there is none.
class MemoryWatch {
 public:
  explicit MemoryWatch(std::uint64_t limit) : limit_(limit), before_(shared_memory()) {}

  bool may_go_on(int group) {
    const Clock::time_point now = Clock::now();
    if (now - last_ < std::chrono::milliseconds(150)) return why_.empty();
    last_ = now;
    const std::uint64_t bytes = group_memory_bytes(group);
    peak_ = std::max(peak_, bytes);
    if (const auto shared = shared_memory(); shared && before_) {
      if (shared->used_bytes > before_->used_bytes) {
        shared_ = std::max(shared_, shared->used_bytes - before_->used_bytes);
      }
    }
    if (bytes > limit_) {
      why_ = fmt::format("stopped at {} of memory: more than the {} it may take (--max-memory)",
                         report::bytes_text(bytes), report::bytes_text(limit_));
    } else if (const auto left = session::available_memory({}); left && *left < limit_ / 20) {
      why_ = fmt::format("stopped at {} of memory: only {} was left for all",
                         report::bytes_text(bytes), report::bytes_text(*left));
    }
    return why_.empty();
  }

  const std::string& why() const { return why_; }
  std::int64_t peak() const { return static_cast<std::int64_t>(peak_); }
  std::int64_t shared() const { return static_cast<std::int64_t>(shared_); }

 private:
  std::uint64_t limit_, peak_ = 0, shared_ = 0;
  std::optional<SharedMemory> before_;
  Clock::time_point last_ = {};
  std::string why_;
};

// When the target was imported, and whether the first batch takes too long from there.
class TimeWatch {
 public:
  TimeWatch(Clock::time_point began, const TrialLimits& limits) : began_(began), limits_(limits) {}

  bool may_go_on(std::string_view said) {
    const double now_s = std::chrono::duration<double>(Clock::now() - began_).count();
    // The first line of a trial is what the target takes.
    if (!import_s_ && said.find('\n') != std::string_view::npos && said.starts_with("takes")) {
      import_s_ = now_s;
    }
    has_batch_ = has_batch_ || said.find("\nfirst ") != std::string_view::npos;
    limit_s_ = limits_.first_batch_s + (has_batch_ ? limits_.measuring_s : 0);
    is_late_ = import_s_ && now_s > *import_s_ + limit_s_;
    return !is_late_;
  }

  std::optional<double> import_s() const { return import_s_; }
  bool is_late() const { return is_late_; }
  double limit_s() const { return is_late_ ? limit_s_ : limits_.all_s; }

 private:
  Clock::time_point began_;
  TrialLimits limits_;
  double limit_s_ = 0;
  std::optional<double> import_s_;
  bool has_batch_ = false, is_late_ = false;
};

// The lines of a trial, read in order.
class Reading {
 public:
  explicit Reading(TrialOutcome& out) : out_(out) {}

  void read(const std::string& text) {
    std::stringstream lines(text);
    for (std::string line; std::getline(lines, line);) take(line);
  }
  bool ended() const { return ended_; }
  bool is_imported() const { return is_imported_; }
  std::string_view phase() const { return phase_; }

 private:
  void take(const std::string& line) {
    std::stringstream words(line);
    std::string kind;
    words >> kind;
    if (kind == "takes") {
      is_imported_ = true;
      phase_ = "making the loader";
      for (std::string name; words >> name;) out_.takes.push_back(name);
    } else if (kind == "setting") {
      take_setting(words);
    } else if (kind == "length" || kind == "storage") {
      std::int64_t value = 0;
      if (words >> value) (kind == "length" ? out_.trial.length : out_.trial.storage_bytes) = value;
    } else if (kind == "trains" || kind == "loads") {
      out_.trial.trains = kind == "trains";
      phase_ = "waiting for the first batch";
    } else if (kind == "first" || kind == "block") {
      phase_ = "after the first batch";
      take_block(words, kind == "first" ? out_.trial.firsts : out_.trial.blocks);
    } else if (kind == "end") {
      ended_ = true;
    } else if (kind == "wrong" || kind == "error") {
      ended_ = true;
      out_.trouble = TrialTrouble::kFailed;
      out_.is_wrong = kind == "wrong";
      out_.why = line.substr(std::min(line.size(), kind.size() + 1));
    }
  }

  void take_setting(std::stringstream& words) {
    std::string name;
    std::int64_t value = 0;
    if (!(words >> name >> value)) return;
    if (const auto setting = analysis::find_loader_setting(name)) out_.told[*setting] = value;
  }

  static void take_block(std::stringstream& words, std::vector<analysis::StepBlock>& blocks) {
    analysis::StepBlock block;
    std::int64_t samples = -1;
    if (!(words >> block.steps >> block.loading_ns >> block.training_ns >> samples)) return;
    if (samples > 0) block.samples = samples;
    if (block.steps > 0) blocks.push_back(block);
  }

  TrialOutcome& out_;
  bool ended_ = false, is_imported_ = false;
  std::string_view phase_ = "importing";
};

std::string why_it_ended(const doctor::Returned& returned, double limit_s, std::string_view phase) {
  switch (returned.ending) {
    case doctor::Ending::kTooLate:
      return fmt::format("did not get beyond {} within {:.3g} s", phase, limit_s);
    case doctor::Ending::kCrashed:
      return fmt::format("killed by signal {}, {}{}", returned.number, phase,
                         returned.number == 9 ? "; perhaps for want of memory" : "");
    case doctor::Ending::kStopped:
      return "stopped";
    case doctor::Ending::kNotStarted:
      return "no process could be started for it";
    case doctor::Ending::kDone:
      break;
  }
  return fmt::format("ended with status {}, {}", returned.number, phase);
}

TrialOutcome run_trial(const TrialRunner& runner, std::string request, const TrialLimits& limits) {
  TrialOutcome out;
  MemoryWatch memory(runner.memory_limit_bytes);
  doctor::Subprocess process;
  process.program = {runner.python, runner.file, std::move(request)};
  process.limit = std::chrono::milliseconds(static_cast<std::int64_t>(limits.all_s * 1000));
  process.errors_to = runner.log;
  const Clock::time_point began = Clock::now();
  TimeWatch time(began, limits);
  process.may_go_on = [&](int group, std::string_view said) {
    return time.may_go_on(said) && memory.may_go_on(group);
  };
  doctor::Returned returned = doctor::run_subprocesses({process}, runner.stop).front();
  out.wall_s = std::chrono::duration<double>(Clock::now() - began).count();
  Reading reading(out);
  reading.read(returned.text);
  out.import_s = time.import_s();
  if (!out.import_s && reading.is_imported()) out.import_s = out.wall_s;  // all came at once
  out.peak_bytes = memory.peak();
  out.shared_bytes = memory.shared();
  if (time.is_late()) returned.ending = doctor::Ending::kTooLate;
  if (!memory.why().empty()) {
    out.trouble = TrialTrouble::kMemory;
    out.why = memory.why();
  } else if (!reading.ended()) {
    out.trouble = TrialTrouble::kFailed;
    out.why = why_it_ended(returned, time.limit_s(), reading.phase());
    out.was_cut =
        returned.ending == doctor::Ending::kTooLate || returned.ending == doctor::Ending::kStopped;
    out.was_silent = returned.ending == doctor::Ending::kTooLate && out.trial.firsts.empty();
  }
  return out;
}

}  // namespace

TrialOutcome try_setting(const TrialRunner& runner, const analysis::LoaderSettings& given,
                         const std::optional<std::vector<std::string>>& takes,
                         const analysis::NextTrial& next, const TrialLimits& limits) {
  return run_trial(runner, request_for(runner, given, takes ? *takes : all_keywords(), next),
                   limits);
}

std::vector<std::string> last_lines(const std::string& log, std::size_t most) {
  std::ifstream file(log);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    if (lines.size() == most) lines.erase(lines.begin());
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace stepscope::cli
