// The table of commands and the general options.
#include <algorithm>
#include <array>

#include "cli/command.h"

namespace stepscope::cli {
namespace {

constexpr std::array kCommands = {&kRun,    &kConfig,  &kInfo,   &kReport,     &kAdvise,
                                  &kMemory, &kAnalyze, &kDiff,   &kCheck,      &kSweep,
                                  &kServe,  &kExport,  &kDoctor, &kCompletion, &kHelp};

constexpr std::array<std::string_view, 3> kColourChoices = {"auto", "always", "never"};

constexpr std::array kGeneral = std::to_array<Option>({
    {.name = "jobs",
     .letter = 'j',
     .value = "N",
     .help = "threads to use (default: what this job may use, by affinity, cgroup and Slurm)"},
    {.name = "max-memory",
     .value = "SIZE",
     .help = "fail rather than use more memory: 8G, 500M, 50% (default: 75% of what is free)"},
    {.name = "color",
     .value = "WHEN",
     .help = "auto (default: on a terminal, unless NO_COLOR is set), always or never",
     .choices = kColourChoices},
    {.name = "reference-reader",
     .help = "read with the slow, obvious reader alone; the result must be the same"},
    {.name = "block-bytes",
     .value = "SIZE",
     .help = "text given to a thread at once (default: 256K); the result must be the same"},
    {.name = "no-progress", .help = "show no progress bar"},
    {.name = "quiet", .letter = 'q', .help = "write nothing but results and errors"},
    {.name = "help", .letter = 'h', .help = "show this help"},
});

}  // namespace

std::span<const Command* const> commands() { return kCommands; }

const Command* find_command(std::string_view name) {
  const auto* found =
      std::ranges::find_if(kCommands, [&](const Command* c) { return c->name == name; });
  return found == kCommands.end() ? nullptr : *found;
}

std::span<const Option> general_options() { return kGeneral; }

}  // namespace stepscope::cli
