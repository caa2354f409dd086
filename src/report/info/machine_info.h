// What was sampled of machines: how much, when and what could not be seen; as text and as JSON.
// What the samples say is for the analysis `system`.
#pragma once

#include <span>
#include <string>

#include "report/info/info.h"
#include "report/info/info_text.h"

namespace stepscope::report {

// One block per file, each with its notes.
std::string machines_text(std::span<const MachineInfo> machines, const InfoTextOptions& options);

// The list under "machines" in "stepscope.info/1".
void write_machines(JsonWriter& json, std::span<const MachineInfo> machines);

}  // namespace stepscope::report
