// The summary of a run for people and for programs.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "report/info/info.h"
#include "report/writing/json_writer.h"
#include "report/writing/text_table.h"

namespace stepscope::report {

struct InfoTextOptions {
  Look look;
  bool all = false;  // every rank and every category, however many
  // How long loading took. Without it everything that differs between two runs of the command is
  // left out: times, rates, memory.
  std::optional<double> load_seconds;
};

// One block per file, those of a kind together.
std::string memory_text(const RecordedMemory& memory, const InfoTextOptions& options);

std::string info_text(const RunInfo& info, const InfoTextOptions& options);

// The files that could not be read; nothing where all could.
std::string failures_text(const RunInfo& info, const InfoTextOptions& options);

// What is in "stepscope.info/1" beside its version, inside of an object.
void write_info(JsonWriter& json, const RunInfo& info, std::optional<double> load_seconds);

// "stepscope.info/1", described in docs/cli/info.md.
std::string info_json(const RunInfo& info, const RecordedMemory& memory,
                      std::optional<double> load_seconds);

// What to say and check when a trace has no device work; more in docs/start/no-gpu-events.md.
std::string no_device_text(NoDeviceCause cause, const Look& look);

// What was sampled of machines: how much, when and what could not be seen; as text and as JSON.
// What the samples say is for the analysis `system`.

// One block per file, each with its notes.
std::string machines_text(std::span<const MachineInfo> machines, const InfoTextOptions& options);

// The list under "machines" in "stepscope.info/1".
void write_machines(JsonWriter& json, std::span<const MachineInfo> machines);

}  // namespace stepscope::report
