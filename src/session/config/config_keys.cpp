// The table of keys of the settings file.
#include "session/config/config_keys.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace stepscope::session {
namespace {

using enum ConfigKind;

// The same words as stepscope.profile in Python; tests compare them.
constexpr std::array<std::string_view, 5> kKept = {"shapes", "memory", "stacks", "flops",
                                                   "modules"};
constexpr std::array<std::string_view, 4> kActivities = {"cpu", "cuda", "xpu", "mtia"};
constexpr std::array<std::string_view, 4> kStacks = {"python", "modules", "all", "none"};
constexpr std::array<std::string_view, 5> kConfigKeysLevels = {"debug", "info", "warning", "error",
                                                               "critical"};

constexpr std::array kConfigKeysKeys = std::to_array<ConfigKey>({
    {.path = "folder",
     .kind = kText,
     .about = "where the run goes; %j becomes the job, %h the host, %r the rank, %% a percent "
              "sign (--out). When left out, `stepscope run` makes a new folder in stepscope-runs",
     .sample = "runs/%j"},
    {.path = "out", .kind = kText, .alias_of = "folder"},
    {.path = "report",
     .kind = kSwitch,
     .about = "print the report at the end (`stepscope run` only; --no-report)",
     .fallback = "true"},
    {.path = "stage",
     .kind = kSwitch,
     .about = "write the run to the disk that TMPDIR names, and move it to its folder at the end "
              "(`stepscope run` only; --stage)",
     .fallback = "false"},

    {.path = "window",
     .kind = kGroup,
     .about = "which steps are recorded in detail: by the profiler of torch, and in snapshots"},
    {.path = "window.steps",
     .kind = kSteps,
     .about = "FIRST:STOP, counted from 0: 10:15 is steps 10 to 14 (--steps)",
     .sample = "\"11:14\"",
     .instead_of = "epoch wait active repeat skip_first epochs batches"},
    {.path = "window.epoch",
     .kind = kEpoch,
     .about = "an epoch, or its batches A to B, counted from 0 (--epoch)",
     .sample = "\"4:10-20\"",
     .instead_of = "wait active repeat skip_first epochs batches"},
    {.path = "window.wait",
     .kind = kCount,
     .about = "steps of each turn that are left alone; 0 with epochs",
     .fallback = "10"},
    {.path = "window.warmup",
     .kind = kCount,
     .about = "steps that are profiled and thrown away: the first ones are slower",
     .fallback = "1"},
    {.path = "window.active",
     .kind = kCount,
     .about = "steps that are recorded; the whole epoch with epochs",
     .fallback = "3",
     .least = 1},
    {.path = "window.repeat",
     .kind = kCount,
     .about = "turns; 0 for again and again",
     .fallback = "1"},
    {.path = "window.skip_first",
     .kind = kCount,
     .about = "steps before the first turn",
     .fallback = "0"},
    {.path = "window.epochs",
     .kind = kNumbers,
     .about = "only in these epochs, counted from 0; counting of steps begins anew in each",
     .sample = "[1, 3]"},
    {.path = "window.batches",
     .kind = kBatches,
     .about = "only these batches of an epoch, both included",
     .sample = "\"10-20\"",
     .instead_of = "wait active repeat skip_first"},

    {.path = "trace", .kind = kGroup, .about = "the profiler of torch"},
    {.path = "trace.enabled",
     .kind = kSwitch,
     .about = "whether it runs in the window",
     .fallback = "true"},
    {.path = "trace.keep",
     .kind = kWords,
     .about = "what it keeps of operators; each makes traces larger and steps slower",
     .fallback = "[]",
     .choices = kKept},
    {.path = "trace.activities",
     .kind = kWords,
     .about = "what it watches; [] is all there is",
     .fallback = "[]",
     .choices = kActivities},

    {.path = "snapshot", .kind = kGroup, .about = "the history of the GPU's allocator"},
    {.path = "snapshot.enabled",
     .kind = kSwitch,
     .about = "whether it is kept in the window and written as a snapshot",
     .fallback = "false"},
    {.path = "snapshot.steps",
     .kind = kSteps,
     .about = "steps of its own; those of the window when left out",
     .sample = "\"20:24\""},
    {.path = "snapshot.stacks",
     .kind = kChoice,
     .about = "what asked for memory: python has every call, modules only the pass and the modules "
              "around and is the cheapest that tells causes, all has C++ too and costs one and a "
              "half times to nearly three times what python does, none tells no causes",
     .fallback = "python",
     .choices = kStacks},
    {.path = "snapshot.frees",
     .kind = kSwitch,
     .about = "stacks where memory is given back, too; the window costs up to half as much again",
     .fallback = "false"},
    {.path = "snapshot.max_entries",
     .kind = kCount,
     .about = "allocations and frees that are kept; older ones are overwritten",
     .fallback = "200000",
     .least = 1},
    {.path = "snapshot.rank0_only",
     .kind = kSwitch,
     .about = "on rank 0 alone",
     .fallback = "false"},
    {.path = "snapshot.on_oom",
     .kind = kSwitch,
     .about = "a snapshot whenever memory runs out, also where enabled is false",
     .fallback = "true"},

    {.path = "system",
     .kind = kGroup,
     .about = "the machine: processors, memory, disks, network, GPUs, energy"},
    {.path = "system.enabled",
     .kind = kSwitch,
     .about = "whether it is measured, by one process of each node",
     .fallback = "true"},
    {.path = "system.rate",
     .kind = kNumber,
     .about = "times a second",
     .fallback = "10",
     .most = 100},

    {.path = "watch", .kind = kGroup, .about = "the loaders that training takes its batches from"},
    {.path = "watch.samples",
     .kind = kCount,
     .about = "how many a batch holds; taken from the batch's shape when left out",
     .sample = "32",
     .least = 1},
    {.path = "watch.transforms",
     .kind = kWords,
     .about = "attributes or methods of the dataset that transform a sample, beside the usual ones "
              "(transform, augment, preprocess, ...)",
     .fallback = "[]"},
    {.path = "watch.progress",
     .kind = kSwitch,
     .about = "a bar with the live rate, on rank 0 and where standard error is a terminal",
     .fallback = "false"},

    {.path = "ranges",
     .kind = kSwitch,
     .about = "record ranges, steps, counters and log lines",
     .fallback = "true"},
    {.path = "logs",
     .kind = kLogLevel,
     .about = "record lines of `logging`: all, none, or from a level on",
     .fallback = "true",
     .choices = kConfigKeysLevels},
    {.path = "rank0_only",
     .kind = kSwitch,
     .about = "traces and snapshots on rank 0 alone; ranges and logs on all",
     .fallback = "false"},
    {.path = "max_bytes",
     .kind = kSize,
     .about = "a window ends early when the process has grown by more than this meanwhile",
     .fallback = "1GiB"},
    {.path = "max_seconds",
     .kind = kNumber,
     .about = "a window ends early when it has been open for longer",
     .fallback = "600"},
    {.path = "tags", .kind = kWords, .about = "words to find the run by", .fallback = "[]"},
    {.path = "run_id",
     .kind = kText,
     .about = "what restarts share; taken from the script when left out",
     .sample = "exp1"},
    {.path = "first_step",
     .kind = kCount,
     .about = "the number of the first step, after a restart from a checkpoint",
     .fallback = "0"},
    {.path = "first_epoch", .kind = kCount, .about = "the same for epochs", .fallback = "0"},
    {.path = "arguments",
     .kind = kSwitch,
     .about = "keep the arguments of the command in run.json",
     .fallback = "true"},

    {.path = "benchmark_profiler",
     .kind = kGroup,
     .about = "the keys of Anemoi's profiler: where this group is there, its reports are written, "
              "and what is left out of it has the values shown here. Keys above win over it",
     .says_itself = true},
    {.path = "benchmark_profiler.memory",
     .kind = kGroup,
     .about = "operators and their memory, by the profiler of torch"},
    {.path = "benchmark_profiler.memory.enabled", .about = "write it", .fallback = "true"},
    {.path = "benchmark_profiler.memory.steps",
     .kind = kCount,
     .about = "steps that are traced",
     .fallback = "5",
     .least = 1},
    {.path = "benchmark_profiler.memory.warmup",
     .kind = kCount,
     .about = "steps before them that are thrown away",
     .fallback = "2"},
    {.path = "benchmark_profiler.memory.extra_plots",
     .about = "also a page with the timeline of memory",
     .fallback = "false"},
    {.path = "benchmark_profiler.memory.trace_rank0_only",
     .about = "trace rank 0 alone",
     .fallback = "false"},
    {.path = "benchmark_profiler.memory.track_rank0_only",
     .alias_of = "benchmark_profiler.memory.trace_rank0_only"},
    {.path = "benchmark_profiler.time", .kind = kGroup, .about = "how long each action took"},
    {.path = "benchmark_profiler.time.enabled", .about = "write it", .fallback = "true"},
    {.path = "benchmark_profiler.time.verbose",
     .about = "all actions, not only the usual ones",
     .fallback = "false"},
    {.path = "benchmark_profiler.speed", .kind = kGroup, .about = "batches and samples a second"},
    {.path = "benchmark_profiler.speed.enabled", .about = "write it", .fallback = "true"},
    {.path = "benchmark_profiler.system", .kind = kGroup, .about = "what the machine did"},
    {.path = "benchmark_profiler.system.enabled", .about = "write it", .fallback = "true"},
    {.path = "benchmark_profiler.model_summary",
     .kind = kGroup,
     .about = "layers and parameters of the model"},
    {.path = "benchmark_profiler.model_summary.enabled", .about = "write it", .fallback = "true"},
    {.path = "benchmark_profiler.snapshot",
     .kind = kGroup,
     .about = "the history of the GPU's allocator"},
    {.path = "benchmark_profiler.snapshot.enabled", .about = "write it", .fallback = "true"},
    {.path = "benchmark_profiler.snapshot.steps",
     .kind = kCount,
     .about = "steps that it covers",
     .fallback = "4",
     .least = 1},
    {.path = "benchmark_profiler.snapshot.warmup",
     .kind = kCount,
     .about = "steps before them",
     .fallback = "0"},
});

}  // namespace

std::span<const ConfigKey> config_keys() { return kConfigKeysKeys; }

const ConfigKey* find_config_key(std::string_view path) {
  const auto* const found = std::ranges::find(kConfigKeysKeys, path, &ConfigKey::path);
  return found == kConfigKeysKeys.end() ? nullptr : found;
}

std::vector<const ConfigKey*> keys_in_group(std::string_view group) {
  std::vector<const ConfigKey*> keys;
  for (const ConfigKey& key : kConfigKeysKeys) {
    const std::size_t dot = key.path.rfind('.');
    const std::string_view above = dot == std::string_view::npos ? "" : key.path.substr(0, dot);
    if (above == group) keys.push_back(&key);
  }
  return keys;
}

std::string_view last_name(std::string_view path) { return path.substr(path.rfind('.') + 1); }

std::string taken_by(const ConfigKey& key) {
  const std::string choices = fmt::format("{}", fmt::join(key.choices, ", "));
  switch (key.kind) {
    case kGroup:
      return "keys of its own";
    case kSwitch:
      return "true or false";
    case kCount:
      return fmt::format("a whole number from {}", key.least);
    case kNumber:
      return key.most > 0 ? fmt::format("a number above 0, up to {:g}", key.most)
                          : "a number above 0";
    case kText:
      return "a text";
    case kChoice:
      return "one of " + choices;
    case kWords:
      return choices.empty() ? "a list of words" : "a list of " + choices;
    case kNumbers:
      return "numbers from 0, such as [1, 3]";
    case kSize:
      return "a size, such as 500MB or 2GiB";
    case kSteps:
      return "FIRST:STOP, such as 10:15 for steps 10 to 14";
    case kEpoch:
      return "an epoch, such as 4, or one with its batches, such as 4:10-20";
    case kBatches:
      return "FIRST-LAST, such as 10-20";
    case kLogLevel:
      return "true, false, or one of " + choices;
  }
  return {};
}

}  // namespace stepscope::session
