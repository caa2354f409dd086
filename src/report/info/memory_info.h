// What is in the small memory files: exported timelines and memory_stats, as text and as JSON.
#pragma once

#include <span>
#include <string>

#include "memory/snapshot.h"
#include "memory/stats.h"
#include "memory/timeline.h"
#include "report/info/info_text.h"
#include "report/writing/json_writer.h"
#include "report/writing/text_table.h"

namespace stepscope::report {

std::string timelines_text(std::span<const memory::Timeline> timelines, const Look& look);
std::string stats_text(std::span<const memory::Stats> stats, const Look& look);

// The lists under "memory_timelines" and "memory_stats" in "stepscope.info/1".
void write_timelines(JsonWriter& json, std::span<const memory::Timeline> timelines);
void write_stats(JsonWriter& json, std::span<const memory::Stats> stats);

// What is in a memory snapshot: the facts `stepscope info` shows, as text and as JSON.

// "1.00 MiB"; what a file says below zero keeps its sign.
std::string bytes_of(base::Bytes bytes);

// One block per snapshot, each with its notes.
std::string snapshots_text(std::span<const memory::Snapshot> snapshots,
                           const InfoTextOptions& options);

// The list under "snapshots" in "stepscope.info/1".
void write_snapshots(JsonWriter& json, std::span<const memory::Snapshot> snapshots,
                     bool with_memory);

}  // namespace stepscope::report
