// What is in a memory snapshot: the facts `stepscope info` shows, as text and as JSON.
#pragma once

#include <span>
#include <string>

#include "memory/snapshot.h"
#include "report/info_text.h"

namespace stepscope::report {

// One block per snapshot, each with its notes.
std::string snapshots_text(std::span<const memory::Snapshot> snapshots,
                           const InfoTextOptions& options);

// The list under "snapshots" in "stepscope.info/1".
void write_snapshots(JsonWriter& json, std::span<const memory::Snapshot> snapshots,
                     bool with_memory);

}  // namespace stepscope::report
