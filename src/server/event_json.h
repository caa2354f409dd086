// Events as JSON.
#pragma once

#include <vector>

#include "report/writing/json_writer.h"
#include "session/timeline/event_card.h"

namespace stepscope::server {

void write_card(report::JsonWriter& json, const session::EventCard& card);
void write_cards(report::JsonWriter& json, const std::vector<session::EventCard>& cards);

}  // namespace stepscope::server
