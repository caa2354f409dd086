// Tracks, tiles, search and statistics of a stretch.
#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "base/number_text.h"
#include "server/answers.h"
#include "session/timeline/event_details.h"
#include "session/timeline/stretch.h"
#include "session/timeline/tile.h"

namespace stepscope::server {
namespace {

using base::Code;
using base::fail;
using report::JsonWriter;
using session::Timeline;
using session::TimelineTrack;

constexpr std::uint64_t kLatest = std::numeric_limits<std::int64_t>::max();
constexpr std::size_t kMostTiles = 64;
constexpr std::size_t kMostNames = 200;

void write_text(JsonWriter& json, std::string_view name, const std::string& text) {
  json.key(name);
  text.empty() ? json.null() : json.value(text);
}

template <class T>
void write_if(JsonWriter& json, std::string_view name, const std::optional<T>& value) {
  json.key(name);
  value ? json.value(*value) : json.null();
}

void write_track(JsonWriter& json, std::size_t id, const TimelineTrack& track) {
  json.begin_object();
  json.member("id", id);
  json.member("kind", name_of(track.kind));
  write_if(json, "rank",
           track.rank == session::kMachineRank ? std::nullopt : std::optional(track.rank));
  write_text(json, "host", track.host);
  json.member("group", track.group);
  json.member("label", track.label);
  write_text(json, "process", track.process);
  write_text(json, "process_name", track.process_name);
  write_text(json, "thread", track.thread);
  write_text(json, "thread_name", track.thread_name);
  write_if(json, "device", track.device);
  write_if(json, "stream", track.stream);
  write_text(json, "unit", track.unit);
  json.member("depth", track.depth);
  json.member("first_ns", track.first);
  json.member("last_ns", track.last);
  json.member("events", track.events);
  json.member("not_drawn", track.not_drawn);
  std::optional<session::Extent> extent;
  if (track.line.size() > 0) extent = track.line.extent(0, track.line.size());
  write_if(json, "min", extent ? std::optional(extent->min) : std::nullopt);
  write_if(json, "max", extent ? std::optional(extent->max) : std::nullopt);
  json.end_object();
}

base::Failure no_tile() {
  return fail(Code::kNotFound,
              "tiles are api/tiles/TRACK/LEVEL/INDEX or "
              "api/tiles/LEVEL/INDEX?tracks=0,4,7");
}

base::Result<std::string> tile(const Timeline& timeline, std::uint64_t track, std::uint64_t level,
                               std::uint64_t index) {
  if (track >= timeline.tracks.size()) {
    return fail(Code::kNotFound, fmt::format("there is no track {}", track));
  }
  const std::uint32_t highest = session::max_level(timeline.length);
  if (level > highest) {
    return fail(Code::kNotFound, fmt::format("levels go from 0 to {}", highest));
  }
  const TimelineTrack& of = timeline.tracks[track];
  const auto small = static_cast<std::uint32_t>(level);
  return tile_bytes(session::make_tile(of, {small, index}), static_cast<std::uint32_t>(track), of,
                    small);
}

base::Result<std::vector<std::uint32_t>> tracks_of(Query& query, const Timeline& timeline) {
  SCOPE_TRY(const auto given, query.numbers("tracks"));
  std::vector<std::uint32_t> tracks;
  for (const std::int64_t track : given) {
    if (track >= static_cast<std::int64_t>(timeline.tracks.size())) {
      return fail(Code::kInvalidArgument, fmt::format("tracks: there is no track {}", track));
    }
    tracks.push_back(static_cast<std::uint32_t>(track));
  }
  std::ranges::sort(tracks);
  tracks.erase(std::ranges::unique(tracks).begin(), tracks.end());
  if (tracks.empty()) {
    tracks.resize(timeline.tracks.size());
    std::iota(tracks.begin(), tracks.end(), std::uint32_t{0});
  }
  return tracks;
}

void write_names(JsonWriter& json, const session::Stretch& stretch) {
  json.key("names");
  json.begin_list();
  for (std::size_t i = 0; i < std::min(kMostNames, stretch.names.size()); ++i) {
    const session::StretchName& name = stretch.names[i];
    json.begin_object();
    json.member("name", name.name);
    json.member("kind", trace::name_of(static_cast<trace::Kind>(name.kind)));
    json.member("count", name.count);
    json.member("total_ns", name.total);
    json.member("self_ns", name.self);
    json.member("longest_ns", name.longest);
    json.end_object();
  }
  json.end_list();
  json.member("names_count", stretch.names.size());
  json.key("kinds");
  json.begin_list();
  for (const session::StretchName& kind : stretch.kinds) {
    json.begin_object();
    json.member("kind", trace::name_of(static_cast<trace::Kind>(kind.kind)));
    json.member("count", kind.count);
    json.member("total_ns", kind.total);
    json.member("self_ns", kind.self);
    json.end_object();
  }
  json.end_list();
}

void write_devices(JsonWriter& json, const session::Stretch& stretch) {
  json.key("devices");
  json.begin_list();
  for (const session::StretchDevice& device : stretch.devices) {
    json.begin_object();
    json.member("rank", device.rank);
    json.member("device", device.device);
    json.member("measured_ns", device.measured);
    json.member("busy_ns", device.busy);
    json.member("idle_ns", device.measured - device.busy);
    json.key("causes");
    json.begin_object();
    for (std::size_t cause = 0; cause < device.causes.size(); ++cause) {
      json.member(analysis::name_of(static_cast<analysis::Cause>(cause)), device.causes[cause]);
    }
    json.end_object();
    json.end_object();
  }
  json.end_list();
  json.key("counters");
  json.begin_list();
  for (const session::StretchCounter& counter : stretch.counters) {
    json.begin_object();
    json.member("track", counter.track);
    json.member("min", counter.extent.min);
    json.member("max", counter.extent.max);
    write_if(json, "mean", counter.mean);
    json.member("last", counter.last);
    json.end_object();
  }
  json.end_list();
}

void write_lines(JsonWriter& json, const session::Stretch& stretch) {
  json.key("lines");
  json.begin_list();
  for (std::size_t i = 0; i < std::min(kMostNames, stretch.lines.size()); ++i) {
    const session::StretchLine& line = stretch.lines[i];
    json.begin_object();
    json.member("rank", line.rank);
    json.member("time_ns", line.time);
    json.member("level", line.level);
    json.member("text", line.text);
    json.end_object();
  }
  json.end_list();
  json.member("lines_count", stretch.lines.size());
}

}  // namespace

void write_time(JsonWriter& json, const Timeline& timeline) {
  json.begin_object();
  write_if(json, "start_unix_ns", timeline.start_unix_ns);
  json.member("length_ns", timeline.length);
  write_if(json, "recorded_offset_ns", timeline.recorded_offset);
  json.key("windows");
  json.begin_list();
  for (const session::TimelineWindow& window : timeline.windows) {
    json.begin_object();
    json.member("rank", window.rank);
    json.member("window", window.window);
    json.member("first_ns", window.first);
    json.member("last_ns", window.last);
    json.member("offset_ns", window.offset);
    json.end_object();
  }
  json.end_list();
  json.end_object();
}

base::Result<Answered> tracks_answer(Asked& asked) {
  SCOPE_TRY(asked.query.finish());
  const Timeline& timeline = asked.run->timeline;
  JsonWriter json;
  json.begin_object();
  json.member("schema", "stepscope.tracks/1");
  json.member("length_ns", timeline.length);
  json.member("columns", session::kTileColumns);
  json.member("max_level", session::max_level(timeline.length));
  json.key("kinds");
  json.begin_list();
  for (std::size_t kind = 0; kind < static_cast<std::size_t>(trace::Kind::kCount); ++kind) {
    json.value(trace::name_of(static_cast<trace::Kind>(kind)));
  }
  json.end_list();
  json.key("causes");
  json.begin_list();
  for (std::size_t cause = 0; cause < analysis::kCauses; ++cause) {
    json.value(analysis::name_of(static_cast<analysis::Cause>(cause)));
  }
  json.end_list();
  json.key("tracks");
  json.begin_list();
  for (std::size_t id = 0; id < timeline.tracks.size(); ++id) {
    write_track(json, id, timeline.tracks[id]);
  }
  json.end_list();
  json.end_object();
  return Answered{.body = std::move(json).finish()};
}

base::Result<Answered> tiles_answer(Asked& asked) {
  std::vector<std::uint64_t> numbers;
  for (const std::string& word : asked.words) {
    const auto number = base::parse_number<std::uint64_t>(word);
    if (!number) return no_tile();
    numbers.push_back(*number);
  }
  Answered answer{.type = "application/octet-stream", .body = {}};
  if (numbers.size() == 3) {
    SCOPE_TRY(asked.query.finish());
    SCOPE_TRY(answer.body, tile(asked.run->timeline, numbers[0], numbers[1], numbers[2]));
    return answer;
  }
  if (numbers.size() != 2) return no_tile();
  SCOPE_TRY(const auto tracks, asked.query.numbers("tracks"));
  SCOPE_TRY(asked.query.finish());
  if (tracks.empty() || tracks.size() > kMostTiles) {
    return fail(Code::kInvalidArgument,
                fmt::format("tracks: give 1 to {} of them, such as 0,4,7", kMostTiles));
  }
  for (const std::int64_t track : tracks) {
    SCOPE_TRY(const std::string one,
              tile(asked.run->timeline, static_cast<std::uint64_t>(track), numbers[0], numbers[1]));
    answer.body += one;
  }
  return answer;
}

base::Result<Answered> search_answer(Asked& asked) {
  constexpr std::uint64_t kMostHits = 1000;
  const auto text = asked.query.text("q");
  if (!text || text->empty()) return fail(Code::kInvalidArgument, "q: what to look for");
  session::SearchRequest request{.text = *text};
  SCOPE_TRY(request.limit, asked.query.whole("limit", 100, kMostHits));
  SCOPE_TRY(const std::uint64_t from, asked.query.whole("from_ns", 0, kLatest));
  request.from = static_cast<base::Nanos>(from);
  SCOPE_TRY(request.ranks, asked.query.ranks());
  SCOPE_TRY(asked.query.finish());
  const session::SearchHits hits = session::search(asked.run->timeline, request);
  JsonWriter json;
  json.begin_object();
  json.member("schema", "stepscope.search/1");
  json.member("count", hits.count);
  json.key("names");
  json.begin_list();
  for (const session::FoundName& name : hits.names) {
    json.begin_object();
    json.member("name", name.name);
    json.member("count", name.count);
    json.member("total_ns", name.total);
    json.end_object();
  }
  json.end_list();
  json.key("hits");
  write_cards(json, hits.hits);
  json.end_object();
  return Answered{.body = std::move(json).finish()};
}

base::Result<Answered> selection_answer(Asked& asked) {
  const Timeline& timeline = asked.run->timeline;
  session::StretchRequest request;
  SCOPE_TRY(const std::uint64_t from, asked.query.whole("from_ns", 0, kLatest));
  SCOPE_TRY(const std::uint64_t to,
            asked.query.whole("to_ns", static_cast<std::uint64_t>(timeline.length), kLatest));
  SCOPE_TRY(request.tracks, tracks_of(asked.query, timeline));
  SCOPE_TRY(asked.query.finish());
  if (to < from) return fail(Code::kInvalidArgument, "to_ns: lies before from_ns");
  // Nothing is after the end, and offsets of windows must not lead out of the numbers.
  const auto end = static_cast<std::uint64_t>(timeline.length) + 1;
  request.from = static_cast<base::Nanos>(std::min(from, end));
  request.to = static_cast<base::Nanos>(std::min(to, end));
  const session::Stretch stretch = session::stretch_of(timeline, *asked.run->study, request);
  JsonWriter json;
  json.begin_object();
  json.member("schema", "stepscope.selection/1");
  json.member("from_ns", request.from);
  json.member("to_ns", request.to);
  json.member("events", stretch.events);
  write_names(json, stretch);
  write_devices(json, stretch);
  write_lines(json, stretch);
  json.end_object();
  return Answered{.body = std::move(json).finish()};
}

}  // namespace stepscope::server
