// What is in a memory snapshot: the facts `stepscope info` shows, as text and as JSON.
#pragma once

#include <span>
#include <string>

#include "memory/snapshot.h"
#include "report/info/info_text.h"

namespace stepscope::report {

// "1.00 MiB"; what a file says below zero keeps its sign.
std::string bytes_of(base::Bytes bytes);

// One block per snapshot, each with its notes.
std::string snapshots_text(std::span<const memory::Snapshot> snapshots,
                           const InfoTextOptions& options);

// The list under "snapshots" in "stepscope.info/1".
void write_snapshots(JsonWriter& json, std::span<const memory::Snapshot> snapshots,
                     bool with_memory);

}  // namespace stepscope::report
