// Events by a part of their name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "session/timeline/event_card.h"

namespace stepscope::session {

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
