// Events of the timeline as JSON.
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/number_text.h"
#include "server/answers.h"
#include "session/timeline/event_details.h"

namespace stepscope::server {
namespace {

using report::JsonWriter;
using session::EventCard;
using session::EventDetails;
using Json = nlohmann::ordered_json;

constexpr int kDeepest = 64;

void write_json(JsonWriter& json, const Json& value) {
  switch (value.type()) {
    case Json::value_t::object:
      json.begin_object();
      for (const auto& [key, member] : value.items()) {
        json.key(key);
        write_json(json, member);
      }
      json.end_object();
      return;
    case Json::value_t::array:
      json.begin_list();
      for (const Json& member : value) write_json(json, member);
      json.end_list();
      return;
    case Json::value_t::string:
      json.value(value.get_ref<const std::string&>());
      return;
    case Json::value_t::boolean:
      json.value(value.get<bool>());
      return;
    case Json::value_t::number_integer:
      json.value(value.get<std::int64_t>());
      return;
    case Json::value_t::number_unsigned:
      json.value(value.get<std::uint64_t>());
      return;
    case Json::value_t::number_float:
      json.value(value.get<double>());
      return;
    case Json::value_t::null:
    case Json::value_t::binary:
    case Json::value_t::discarded:
      break;
  }
  json.null();
}

// Not deeper than anybody nests arguments: texts come from files.
bool is_flat_enough(std::string_view text) {
  int depth = 0;
  for (const char c : text) {
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    if (depth > kDeepest) return false;
  }
  return true;
}

void write_arguments(JsonWriter& json, const std::string& text) {
  Json event;
  if (!text.empty() && is_flat_enough(text)) {
    event = Json::parse(text, nullptr, false);
  }
  const bool readable = event.is_object();
  json.key("arguments");
  if (readable && event.contains("args")) {
    write_json(json, event["args"]);
  } else {
    json.null();
  }
  json.key("text");
  readable || text.empty() ? json.null() : json.value(text);
}

void write_flags(JsonWriter& json, std::uint8_t flags) {
  json.key("flags");
  json.begin_list();
  if ((flags & trace::kBadDuration) != 0) json.value("bad_duration");
  if ((flags & trace::kFarTime) != 0) json.value("far_time");
  if ((flags & trace::kUnclosed) != 0) json.value("unclosed");
  if ((flags & trace::kOutlivesParent) != 0) json.value("outlives_parent");
  json.end_list();
}

// The members of a card, inside of an object.
void write_members(JsonWriter& json, const EventCard& card) {
  json.member("rank", card.window->rank);
  json.member("window", card.window->window);
  json.member("ordinal", card.ordinal());
  json.key("track");
  card.place ? json.value(card.place->track) : json.null();
  json.key("depth");
  card.place ? json.value(card.place->depth) : json.null();
  json.member("name", card.name());
  json.member("kind", trace::name_of(card.trace().kind()[card.row]));
  json.member("start_ns", card.start());
  json.member("duration_ns", card.duration());
}

void write_card_if(JsonWriter& json, std::string_view name, const std::optional<EventCard>& card) {
  json.key(name);
  card ? write_card(json, *card) : json.null();
}

void write_linked(JsonWriter& json, const std::string& name, const session::LinkedEvents& list) {
  json.key(name);
  write_cards(json, list.first);
  json.member(name + "_count", list.count);
}

}  // namespace

void write_card(JsonWriter& json, const EventCard& card) {
  json.begin_object();
  write_members(json, card);
  json.end_object();
}

void write_cards(JsonWriter& json, const std::vector<EventCard>& cards) {
  json.begin_list();
  for (const EventCard& card : cards) write_card(json, card);
  json.end_list();
}

base::Result<Answered> event_answer(Asked& asked) {
  SCOPE_TRY(asked.query.finish());
  std::vector<std::uint64_t> numbers;
  for (const std::string& word : asked.words) {
    const auto number = base::parse_number<std::uint64_t>(word);
    if (number && *number < session::kNoOrdinal) numbers.push_back(*number);
  }
  if (numbers.size() != 3 || asked.words.size() != 3 || numbers[0] > 0x7fffffff) {
    return base::fail(base::Code::kNotFound, "events are api/events/RANK/WINDOW/ORDINAL");
  }
  const trace::EventRef ref{.rank = {static_cast<std::int32_t>(numbers[0])},
                            .window = static_cast<std::uint32_t>(numbers[1]),
                            .ordinal = static_cast<std::uint32_t>(numbers[2])};
  const base::Result<EventDetails> found = [&] {
    const std::lock_guard lock(asked.run->text_mutex);
    return session::event_details(asked.run->timeline, *asked.run->study, ref);
  }();
  if (!found) return base::Failure{found.error()};
  const EventCard& event = found->event;
  JsonWriter json;
  json.begin_object();
  json.member("schema", "stepscope.event/1");
  write_members(json, event);
  json.member("category", event.trace().category_text(event.row));
  json.key("self_ns");
  found->self ? json.value(*found->self) : json.null();
  write_flags(json, event.trace().flags()[event.row]);
  json.key("step");
  found->step ? json.value(*found->step) : json.null();
  write_arguments(json, found->text);
  json.key("text_lost");
  found->text_lost.empty() ? json.null() : json.value(found->text_lost);
  json.key("stack");
  write_cards(json, found->callers);
  json.key("call_stack");
  json.begin_list();
  for (const std::string& frame : found->call_stack) json.value(frame);
  json.end_list();
  json.key("module");
  found->module.empty() ? json.null() : json.value(found->module);
  write_card_if(json, "parent", found->parent);
  write_linked(json, "children", found->children);
  write_card_if(json, "operator", found->operation);
  write_card_if(json, "launch", found->launch);
  write_linked(json, "work", found->work);
  write_card_if(json, "forward", found->forward);
  write_linked(json, "backward", found->backward);
  json.end_object();
  return Answered{.body = std::move(json).finish()};
}

}  // namespace stepscope::server
