// An event of a trace as pages name it: who it is, where it is drawn, when it was.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "session/timeline/timeline.h"

namespace stepscope::session {

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

}  // namespace stepscope::session
