// The plan of a recording, as the Python package reads it, from a settings file.
#include "session/config/recording_plan.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/number_text.h"
#include "report/writing/json_writer.h"
#include "session/config/config_file.h"
#include "session/config/config_keys.h"
#include "trace/process_record.h"

namespace stepscope::session {

namespace {

using base::Code;
using base::fail;

constexpr std::int64_t kMostSteps = 1'000'000'000'000;

// -1 where it is none.
std::int64_t count_from(std::string_view text) {
  const auto value = base::parse_number<std::int64_t>(text);
  return value && *value <= kMostSteps ? *value : -1;
}

// Nothing where it is not "10-20" or "10".
std::optional<StepWindow> batches_from(std::string_view text) {
  const std::size_t dash = std::min(text.find('-'), text.size());
  const std::int64_t first = count_from(text.substr(0, dash));
  const std::int64_t last = dash < text.size() ? count_from(text.substr(dash + 1)) : first;
  if (first < 0 || last < 0) return std::nullopt;
  return StepWindow{.first = first, .stop = last + 1, .epoch = std::nullopt, .warmup = 1};
}

base::Status check_batches(const StepWindow& window, std::string_view text, std::string_view name) {
  if (!window.stop || *window.stop > window.first) return base::Done{};
  return fail(Code::kInvalidArgument, fmt::format("{}: '{}' holds no batches", name, text));
}

}  // namespace

base::Result<StepWindow> parse_steps(std::string_view text, std::string_view name) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  const std::int64_t first = count_from(text.substr(0, colon));
  const std::int64_t stop = colon < text.size() ? count_from(text.substr(colon + 1)) : -1;
  if (first < 0 || stop < 0) {
    return fail(
        Code::kInvalidArgument,
        fmt::format("{}: '{}' is not FIRST:STOP, such as 10:15 for steps 10 to 14", name, text));
  }
  if (stop <= first) {
    return fail(Code::kInvalidArgument, fmt::format("{}: '{}' holds no steps", name, text));
  }
  return StepWindow{.first = first, .stop = stop, .epoch = std::nullopt, .warmup = 1};
}

base::Result<StepWindow> parse_epoch(std::string_view text, std::string_view name) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  const std::int64_t epoch = count_from(text.substr(0, colon));
  std::optional<StepWindow> window = StepWindow{};
  if (colon < text.size()) window = batches_from(text.substr(colon + 1));
  if (epoch < 0 || !window) {
    return fail(Code::kInvalidArgument,
                fmt::format("{}: '{}' is not an epoch, such as 4, or one with its batches, such as "
                            "4:10-20",
                            name, text));
  }
  SCOPE_TRY(check_batches(*window, text, name));
  window->epoch = epoch;
  return *window;
}

base::Result<StepWindow> parse_batches(std::string_view text, std::string_view name) {
  const std::optional<StepWindow> window = batches_from(text);
  if (!window) {
    return fail(Code::kInvalidArgument,
                fmt::format("{}: '{}' is not FIRST-LAST, such as 10-20", name, text));
  }
  SCOPE_TRY(check_batches(*window, text, name));
  return *window;
}

namespace {

using report::JsonWriter;

constexpr std::string_view kAnemoi = "benchmark_profiler";

// What Anemoi traces with.
constexpr std::array<std::string_view, 3> kAnemoiKeeps = {"memory", "shapes", "stacks"};

// Python counts levels of log lines so.
constexpr std::array<std::int32_t, 5> kRecordingPlanLevels = {10, 20, 30, 40, 50};

// Keys that are arguments of stepscope.profile as they are.
constexpr std::array<std::string_view, 9> kHandedOn = {"ranges",      "rank0_only",  "max_bytes",
                                                       "max_seconds", "tags",        "run_id",
                                                       "first_step",  "first_epoch", "arguments"};

// Words of stepscope.schedule.
constexpr std::array<std::string_view, 6> kTurns = {"wait",   "warmup",     "active",
                                                    "repeat", "skip_first", "epochs"};

// Whole, with its defaults: for the code that writes the reports.
void write_anemoi(JsonWriter& json, const Config& config) {
  json.begin_object();
  for (const ConfigKey* group : keys_in_group(kAnemoi)) {
    json.key(last_name(group->path));
    json.begin_object();
    for (const ConfigKey* key : keys_in_group(group->path)) {
      if (key->alias_of.empty()) config_member(json, last_name(key->path), config, key->path);
    }
    json.end_object();
  }
  json.end_object();
}

class PlanWriter {
 public:
  explicit PlanWriter(const Config& config)
      : config_(config), is_anemoi_(config.has_key(kAnemoi)) {}

  std::string text(const std::string& folder, const std::optional<StagePlace>& stage) {
    json_.begin_object();
    const std::string place =
        folder.empty() ? config_.given<std::string>("folder").value_or("") : folder;
    if (!place.empty()) json_.member("folder", place);
    schedule();
    trace();
    snapshot();
    system();
    logs();
    handed_on();
    watch();
    if (is_anemoi_) {
      json_.key(kAnemoi);
      write_anemoi(json_, config_);
    }
    if (stage) {
      json_.key("stage");
      json_.begin_object();
      json_.member("folder", stage->folder);
      json_.member("host", stage->host);
      json_.end_object();
    }
    json_.end_object();
    return std::move(json_).finish();
  }

 private:
  std::string anemoi_key(std::string_view name) const {
    return std::string(kAnemoi) + "." + std::string(name);
  }

  void pair_of(std::string_view name, std::int64_t first, std::int64_t second) {
    json_.key(name);
    json_.begin_list();
    json_.value(first);
    json_.value(second);
    json_.end_list();
  }

  void turns(std::int64_t wait, std::int64_t warmup, std::int64_t active) {
    json_.begin_object();
    json_.member("wait", wait);
    json_.member("warmup", warmup);
    json_.member("active", active);
    json_.end_object();
  }

  // Steps of the run or of an epoch.
  void window(const StepWindow& chosen, std::int64_t wanted) {
    const std::int64_t warmup = std::min(wanted, chosen.first);
    if (!chosen.epoch) return turns(chosen.first - warmup, warmup, *chosen.stop - chosen.first);
    json_.begin_object();
    json_.member("warmup", warmup);
    json_.member("epochs", *chosen.epoch);
    if (chosen.stop) pair_of("batches", chosen.first, *chosen.stop);
    json_.end_object();
  }

  void schedule() {
    const std::int64_t warmup = config_.get<std::int64_t>("window.warmup");
    for (const std::string_view key : {"window.steps", "window.epoch"}) {
      const auto text = config_.given<std::string>(key);
      const auto chosen = !text                   ? base::Result<StepWindow>(StepWindow{})
                          : key == "window.steps" ? parse_steps(*text, key)
                                                  : parse_epoch(*text, key);
      if (!text || !chosen) continue;
      json_.key("schedule");
      return window(*chosen, warmup);
    }
    const bool has_turns = std::ranges::any_of(
        kTurns, [&](std::string_view name) { return config_.has_key(in_window(name)); });
    if (has_turns || config_.has_key("window.batches")) return own_turns();
    if (!is_anemoi_ || !config_.get<bool>(anemoi_key("memory.enabled"))) return;
    json_.key("schedule");
    turns(0, config_.get<std::int64_t>(anemoi_key("memory.warmup")),
          config_.get<std::int64_t>(anemoi_key("memory.steps")));
  }

  static std::string in_window(std::string_view name) { return "window." + std::string(name); }

  void own_turns() {
    json_.key("schedule");
    json_.begin_object();
    const auto batches = config_.given<std::string>("window.batches");
    const bool by_epoch = batches || config_.has_key("window.epochs");
    if (!by_epoch && !config_.has_key("window.wait")) {
      json_.member("wait", config_.get<std::int64_t>("window.wait"));
    }
    for (const std::string_view name : kTurns) {
      if (config_.has_key(in_window(name))) config_member(json_, name, config_, in_window(name));
    }
    if (batches) {
      if (const auto chosen = parse_batches(*batches, "batches")) {
        pair_of("batches", chosen->first, *chosen->stop);
      }
    }
    json_.end_object();
  }

  void words(std::string_view name, const std::vector<std::string>& list) {
    json_.key(name);
    json_.begin_list();
    for (const std::string& word : list) json_.value(word);
    json_.end_list();
  }

  void trace() {
    const bool anemoi = is_anemoi_ && config_.get<bool>(anemoi_key("memory.enabled"));
    const bool said = config_.has_key("trace.enabled");
    const bool wanted = said ? config_.get<bool>("trace.enabled") : !is_anemoi_ || anemoi;
    if (!wanted) return json_.member("trace", false);
    using Words = std::vector<std::string>;
    Words kept = config_.get<Words>("trace.keep");
    if (anemoi && !config_.has_key("trace.keep"))
      kept.assign(kAnemoiKeeps.begin(), kAnemoiKeeps.end());
    const Words activities = config_.get<Words>("trace.activities");
    kept.insert(kept.end(), activities.begin(), activities.end());
    if (!kept.empty()) return words("trace", kept);
    if (said) json_.member("trace", true);
  }

  bool snapshot_wanted() const {
    if (config_.has_key("snapshot.enabled")) return config_.get<bool>("snapshot.enabled");
    return is_anemoi_ && config_.get<bool>(anemoi_key("snapshot.enabled"));
  }

  void snapshot() {
    const bool wanted = snapshot_wanted();
    const std::array<std::string_view, 5> options = {"stacks", "frees", "max_entries", "rank0_only",
                                                     "on_oom"};
    const auto is_said = [&](std::string_view name) {
      return config_.has_key("snapshot." + std::string(name));
    };
    if (!wanted && !config_.get<bool>("snapshot.on_oom")) return json_.member("snapshot", false);
    if (!wanted && std::ranges::none_of(options, is_said)) return;
    json_.key("snapshot");
    json_.begin_object();
    json_.member("window", wanted);
    if (const auto steps = config_.given<std::string>("snapshot.steps")) {
      if (const auto chosen = parse_steps(*steps, "steps")) {
        json_.key("schedule");
        window(*chosen, 0);
      }
    } else if (is_anemoi_ && !config_.has_key("snapshot.enabled")) {
      json_.key("schedule");
      turns(config_.get<std::int64_t>(anemoi_key("snapshot.warmup")), 0,
            config_.get<std::int64_t>(anemoi_key("snapshot.steps")));
    }
    for (const std::string_view name : options) {
      if (is_said(name)) config_member(json_, name, config_, "snapshot." + std::string(name));
    }
    json_.end_object();
  }

  void system() {
    const bool said = config_.has_key("system.enabled");
    const bool wanted = said || !is_anemoi_ ? config_.get<bool>("system.enabled")
                                            : config_.get<bool>(anemoi_key("system.enabled"));
    if (!wanted) return json_.member("system", false);
    if (const auto rate = config_.given<double>("system.rate")) json_.member("system", *rate);
  }

  void logs() {
    if (!config_.has_key("logs")) return;
    const ConfigValue value = config_.value_of("logs");
    if (const bool* const on = std::get_if<bool>(&value)) return json_.member("logs", *on);
    const auto* const found =
        std::ranges::find(kRecordingPlanLevels, std::get<std::string>(value), trace::level_name);
    if (found != kRecordingPlanLevels.end()) json_.member("logs", *found);
  }

  void handed_on() {
    for (const std::string_view name : kHandedOn) {
      if (config_.has_key(name)) config_member(json_, name, config_, name);
    }
    const std::string anemoi = anemoi_key("memory.trace_rank0_only");
    if (is_anemoi_ && !config_.has_key("rank0_only") && config_.get<bool>(anemoi)) {
      json_.member("rank0_only", true);
    }
  }

  void watch() {
    const std::array<std::string_view, 3> names = {"samples", "transforms", "progress"};
    const auto is_said = [&](std::string_view name) {
      return config_.has_key("watch." + std::string(name));
    };
    if (std::ranges::none_of(names, is_said)) return;
    json_.key("watch");
    json_.begin_object();
    for (const std::string_view name : names) {
      if (is_said(name)) config_member(json_, name, config_, "watch." + std::string(name));
    }
    json_.end_object();
  }

  const Config& config_;
  bool is_anemoi_;
  JsonWriter json_;
};

}  // namespace

std::string plan_json(const Config& config, const std::string& folder,
                      const std::optional<StagePlace>& stage) {
  return PlanWriter(config).text(folder, stage);
}

std::string anemoi_json(const Config& config) {
  if (!config.has_key(kAnemoi)) return {};
  JsonWriter json;
  write_anemoi(json, config);
  return std::move(json).finish();
}

std::string in_one_line(std::string json) {
  std::ranges::replace(json, '\n', ' ');  // inside of strings they are escaped
  return json;
}

}  // namespace stepscope::session
