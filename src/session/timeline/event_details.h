// Events as pages show them: search, and all that is known about one, with its links.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "session/timeline/timeline.h"
#include "trace/run.h"

namespace stepscope::session {

// An event of a trace as pages name it: what it is, where it is drawn, when it was.

struct EventCard {
  const TimelineWindow* window = nullptr;
  trace::Row row = trace::kNoRow;
  std::optional<Timeline::Place> place;

  const trace::Trace& trace() const { return *window->trace; }
  std::string_view name() const { return trace().name_text(row); }
  std::uint32_t ordinal() const { return trace().ordinal()[row]; }
  base::Nanos start() const { return trace().start()[row] + window->offset; }
  base::Nanos duration() const { return trace().duration()[row]; }
};

inline EventCard card_of(const Timeline& timeline, const TimelineWindow& window, trace::Row row) {
  return {&window, row, timeline.place_of(window, row)};
}

inline constexpr std::size_t kMostLinks = 100;

// The first of a list that may be long.
struct LinkedEvents {
  std::vector<EventCard> first;
  std::uint64_t count = 0;
};

struct EventDetails {
  EventCard event;
  std::optional<base::Nanos> self;  // without its children; spans of the host only
  std::optional<std::int64_t> step;
  std::string text;       // the event as it stands in the file; empty where it cannot be read again
  std::string text_lost;  // why it cannot
  std::vector<EventCard> callers;       // the innermost first
  std::vector<std::string> call_stack;  // as text, the innermost first
  std::string module;
  std::optional<EventCard> parent, operation, launch, forward;
  LinkedEvents children, work, backward;
};

// Fails where there is no such event. Reads the event's text: one caller at a time.
base::Result<EventDetails> event_details(const Timeline& timeline, const Study& study,
                                         const trace::EventRef& event);

// Events by a part of their name.

struct SearchRequest {
  std::string_view text;                 // upper and lower case are alike
  base::Nanos from = 0;                  // that start then or later
  std::size_t limit = 100;               // of hits
  std::vector<std::int32_t> ranks = {};  // empty: all
};

struct FoundName {
  std::string name;
  std::uint64_t count = 0;
  base::Nanos total = 0;
};

struct SearchHits {
  std::uint64_t count = 0;
  std::vector<FoundName> names;  // those with most time first
  std::vector<EventCard> hits;   // by start
};

SearchHits search(const Timeline& timeline, const SearchRequest& request);

}  // namespace stepscope::session
