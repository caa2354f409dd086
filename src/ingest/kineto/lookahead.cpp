#include "ingest/kineto/lookahead.h"

#include <string_view>

#include "ingest/kineto/event_starts.h"

namespace stepscope::ingest::kineto {
namespace {

// What stands inside names, and neither between events nor behind their list.
bool is_of_text(char c) { return std::string_view("\"'():.;=").find(c) != std::string_view::npos; }

}  // namespace

const char* Lookahead::skip_space(const char* at) const {
  while (at < end_ && is_space(*at)) ++at;
  return at;
}

// Nothing more is at hand.
bool Lookahead::at_end(const char* at, bool& cut) const {
  if (at < end_) return false;
  cut = !ends();
  return true;
}

bool Lookahead::is_key_at(const char* quote, bool& cut) const {
  const char* at = closing_quote(quote, end_);
  if (at < end_ && *at == '\n') return false;
  if (at < end_) at = skip_space(at + 1);
  return !at_end(at, cut) && *at == ':';
}

// The same of a member that events have.
bool Lookahead::is_field_at(const char* quote, bool& cut) const {
  return is_key_at(quote, cut) && is_event_key(text_in_quotes(quote, end_));
}

bool Lookahead::header_value_ends(const char* at, bool& cut) const {
  at = skip_space(at);
  while (at < end_ && *at == ',') at = skip_space(at + 1);
  if (at_end(at, cut)) return true;
  return *at == '}' || (*at == '"' && is_key_at(at, cut));
}

bool Lookahead::event_follows(const char* at, bool& cut) const {
  at = skip_space(at);
  if (at < end_ && *at != '{') return false;
  if (at < end_ && names_event(at, end_)) return true;
  cut = !ends() && static_cast<std::size_t>(end_ - at) < kGlimpse;
  return false;
}

bool Lookahead::goes_on_behind_entry(const char* at, bool& cut) const {
  at = skip_space(at);
  if (at < end_ && *at == ']') return true;
  if (at < end_ && *at != ',') return false;
  if (at < end_) at = skip_space(at + 1);
  if (at_end(at, cut) || *at == '}') return false;
  // A key of the document: the entry took the end of the list for its own.
  return *at != '"' || !is_key_at(at, cut);
}

bool Lookahead::list_goes_on(const char* behind_bracket, bool& cut) const {
  const char* at = skip_space(behind_bracket);
  if (at < end_ && *at == '}') at = skip_space(at + 1);
  if (at < end_ && *at != ',') return false;
  if (at < end_) at = skip_space(at + 1);
  return event_follows(at, cut);
}

bool Lookahead::is_in_text(const char* behind_bracket, bool& cut) const {
  const char* at = behind_bracket;
  if (at < end_ && *at == '}') ++at;
  if (at_end(at, cut)) return false;
  if (*at != ',') return is_of_text(*at);
  at = skip_space(at + 1);
  return !at_end(at, cut) && *at == '"' && !is_key_at(at, cut) && !cut;
}

bool Lookahead::may_end_entry(const char* at, bool& cut) const {
  at = skip_space(at);
  if (at_end(at, cut)) return true;
  if (*at == ']') return !is_in_text(at + 1, cut);
  return *at == ',' || *at == '{';
}

bool Lookahead::entry_ends(const char* at, bool& cut) const {
  at = skip_space(at);
  if (at_end(at, cut)) return ends();
  if (*at == ']') return list_ends(at + 1, cut);
  if (*at != ',') return event_follows(at, cut);
  at = skip_space(at + 1);
  if (at == end_ && behind_ == Behind::kEvent) return true;
  if (at_end(at, cut)) return ends();
  if (*at == ']') return list_ends(at + 1, cut);
  if (*at != '{') return false;
  at = skip_space(at + 1);
  return !at_end(at, cut) && *at == '"';
}

bool Lookahead::list_ends(const char* at, bool& cut) const {
  at = skip_space(at);
  if (at_end(at, cut)) return ends();
  if (*at == '}') return document_ends(at + 1, cut);
  if (*at != ',') return false;
  at = skip_space(at + 1);
  if (at_end(at, cut)) return ends();
  return *at == '}' ? document_ends(at + 1, cut) : *at == '"' && is_key_at(at, cut);
}

bool Lookahead::document_ends(const char* at, bool& cut) const {
  return at_end(skip_space(at), cut) && ends();
}

bool Lookahead::field_ends(const char* at, bool& cut) const {
  at = skip_space(at);
  if (at < end_ && *at == ',') at = skip_space(at + 1);
  if (at_end(at, cut)) return false;
  return *at == '}' ? entry_ends(at + 1, cut) : *at == '"' && is_field_at(at, cut);
}

bool Lookahead::argument_ends(const char* at, bool& cut) const {
  at = skip_space(at);
  if (at < end_ && *at == ',') at = skip_space(at + 1);
  if (at_end(at, cut)) return false;
  // Behind their brace another member of the event follows, or its end.
  return *at == '}' ? field_ends(at + 1, cut) : *at == '"' && is_key_at(at, cut);
}

}  // namespace stepscope::ingest::kineto
