// All that is known about one event, and who it is linked to.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "session/timeline/event_card.h"
#include "trace/run.h"

namespace stepscope::session {

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

}  // namespace stepscope::session
