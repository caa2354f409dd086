// The answers about a run, by what is asked. Errors become answers of their own in app.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "report/writing/json_writer.h"
#include "server/loaded_run.h"
#include "server/request.h"
#include "session/full_report.h"
#include "session/timeline/event_details.h"
#include "session/timeline/tile.h"

namespace stepscope::server {

struct Asked {
  const LoadedRun* run = nullptr;
  std::span<const std::string> words;  // of the path, after "api/tiles"
  Query query;
  const std::vector<analysis::OwnPeaks>* peaks = nullptr;  // of the user
  const advice::OwnThresholds* thresholds = nullptr;       // of the user
};

// Type and body.
struct Answered {
  std::string type = "application/json";
  std::string body;
};

base::Result<Answered> analysis_answer(Asked& asked);
base::Result<Answered> findings_answer(Asked& asked);
base::Result<Answered> summary_answer(Asked& asked);
base::Result<Answered> tracks_answer(Asked& asked);
base::Result<Answered> tiles_answer(Asked& asked);
base::Result<Answered> event_answer(Asked& asked);
base::Result<Answered> search_answer(Asked& asked);
base::Result<Answered> selection_answer(Asked& asked);

// "time" of api/run.
void write_time(report::JsonWriter& json, const session::Timeline& timeline);

// Events as JSON.

void write_card(report::JsonWriter& json, const session::EventCard& card);
void write_cards(report::JsonWriter& json, const std::vector<session::EventCard>& cards);

// A tile as it travels: little-endian typed arrays, laid out in docs/formats/http-api.md.

std::string tile_bytes(const session::Tile& tile, std::uint32_t track_number,
                       const session::TimelineTrack& track, std::uint32_t level);

// The interface as OpenAPI 3.1, made from the descriptors of the analyses and one table.

std::string openapi_json(std::string_view program_version);

}  // namespace stepscope::server
