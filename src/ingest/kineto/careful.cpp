#include "ingest/kineto/careful.h"

#include <cstring>
#include <string>

#include "ingest/kineto/numbers.h"
#include "ingest/kineto/text.h"

namespace stepscope::ingest::kineto {
namespace {

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

bool is_word_character(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '+' ||
         c == '-' || c == '.' || c == '/' || c == '_' || c == '#';
}

bool starts_value(char c) { return c == '"' || c == '{' || c == '[' || is_word_character(c); }

bool looks_like_number(std::string_view word) {
  const std::size_t first = word[0] == '-' ? 1 : 0;
  return first < word.size() && word[first] >= '0' && word[first] <= '9' &&
         word.find_first_not_of("0123456789+-.eE") == std::string_view::npos;
}

std::string_view between(const char* from, const char* to) {
  return {from, static_cast<std::size_t>(to - from)};
}

// The name of the first member of the object at `brace`; empty where there is none.
std::string_view first_member(const char* brace, const char* end) {
  const char* after = brace + 1;
  while (after < end && is_space(*after)) ++after;
  if (after == end || *after != '"') return {};
  const auto* const quote = static_cast<const char*>(
      std::memchr(after + 1, '"', static_cast<std::size_t>(end - after - 1)));
  return quote == nullptr ? std::string_view{} : between(after + 1, quote);
}

// Whether the object at `brace` begins with a member that an event has.
bool names_event(const char* brace, const char* end) {
  const std::string_view name = first_member(brace, end);
  return !name.empty() && (field_of(name) != Field::kNone || name == "bp" || name == "s");
}

// Whether an event seems to begin in the text.
bool holds_event(const char* begin, const char* end) {
  for (const char* at = begin; at < end; ++at) {
    at = static_cast<const char*>(std::memchr(at, '{', static_cast<std::size_t>(end - at)));
    if (at == nullptr) return false;
    if (names_event(at, end)) return true;
  }
  return false;
}

}  // namespace

void Oddities::tell(trace::Lane& lane, std::uint32_t text_at) const {
  using base::Note;
  const auto note = [&](Note kind, std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) lane.note(kind, text_at);
  };
  note(Note::kControlCharacter, control_characters);
  note(Note::kUnescapedQuote, unescaped_quotes);
  note(Note::kBareWord, bare_words);
  note(Note::kStrayComma, stray_commas);
  note(Note::kMissingComma, missing_commas);
}

const char* CarefulReader::skip_space(const char* at) const {
  while (at < end_ && is_space(*at)) ++at;
  return at;
}

// Is the quote at `quote` the opening quote of a member's name? `cut` says that the text ends
// before that can be told.
bool CarefulReader::is_key_at(const char* quote, bool& cut) const {
  const char* at = quote + 1;
  while (at < end_ && *at != '"' && *at != '\n') at += *at == '\\' ? 2 : 1;
  if (at < end_ && *at == '\n') return false;
  if (at < end_) at = skip_space(at + 1);
  cut = at >= end_ && !ends_;
  return at < end_ && *at == ':';
}

// Does a string end at the quote before `after_quote`? In JSON always; here only if what follows
// can follow a string, because names have been written with quotes inside and no backslash.
bool CarefulReader::closes(const char* after_quote, Place place, bool& cut) const {
  const char* at = skip_space(after_quote);
  if (at == end_) {
    cut = true;
    return true;
  }
  if (place == Place::kKey) return *at == ':';
  if (*at == '}' || *at == ']') return true;
  if (*at == '"') return place == Place::kMember && (is_key_at(at, cut) || cut);
  if (*at != ',') return false;
  at = skip_space(at + 1);
  if (at == end_) {
    cut = true;
    return true;
  }
  if (*at == '}' || *at == ']' || *at == ',') return true;
  return place == Place::kListItem ? starts_value(*at) : *at == '"';
}

Reading CarefulReader::string(const char* at, Place place, Token& token, Oddities& odd) {
  const char* const begin = at + 1;
  std::uint32_t quotes = 0;
  std::uint32_t controls = 0;
  bool crossed_line = false;
  for (at = begin; at < end_; ++at) {
    if (*at == '\\') {
      ++at;
    } else if (*at == '"') {
      bool is_cut = false;
      if (closes(at + 1, place, is_cut)) {
        // The text may go on in a way that says otherwise: ask again when more of it is there.
        if (is_cut && !ends_) return cut(at);
        // A quote is missing, and this is the end of a string of the next event.
        if (quotes > 0 && holds_event(begin, at + 1)) return {Outcome::kUnreadable, at};
        token = {TokenType::kString, between(begin, at)};
        odd.unescaped_quotes += quotes;
        odd.control_characters += controls;
        return {Outcome::kDone, at + 1};
      }
      ++quotes;
    } else if (static_cast<unsigned char>(*at) < 0x20) {
      ++controls;
      crossed_line |= *at == '\n';
    }
    // A quote missing at the end would swallow the events that follow; no writer puts both a line
    // break and a bare quote into one name.
    if (quotes > 0 && crossed_line) return {Outcome::kUnreadable, at};
  }
  return cut(end_);
}

Reading CarefulReader::word(const char* at, Token& token, Oddities& odd) const {
  const char* const begin = at;
  while (at < end_ && is_word_character(*at)) ++at;
  if (at == end_ && !ends_) return cut(at);
  if (at == begin) return {Outcome::kUnreadable, at};
  const std::string_view text = between(begin, at);
  if (looks_like_number(text)) {
    token = {TokenType::kNumber, text};
  } else if (text == "true") {
    token = {TokenType::kTrue, text};
  } else if (text == "false") {
    token = {TokenType::kFalse, text};
  } else if (text == "null") {
    token = {TokenType::kNull, text};
  } else {
    token = {TokenType::kBare, text};
    ++odd.bare_words;
  }
  return {Outcome::kDone, at};
}

// An object or list nobody looks into, however deep: its brackets must pair, its strings must end.
Reading CarefulReader::container(const char* at, Token& token, Oddities& odd) {
  const char* const begin = at;
  std::string open;
  char before = ',';  // the last thing seen that was not space, as far as commas go
  while (at < end_) {
    const char c = *at;
    if (is_space(c)) {
      ++at;
      continue;
    }
    if (c == '{' || c == '[') {
      if (before == 'v') ++odd.missing_commas;
      open += c;
      before = c;
      ++at;
    } else if (c == '}' || c == ']') {
      if (open.back() != (c == '}' ? '{' : '[')) return {Outcome::kUnreadable, at};
      if (before == ',') ++odd.stray_commas;
      open.pop_back();
      before = 'v';
      ++at;
      if (open.empty()) {
        token = {c == '}' ? TokenType::kObject : TokenType::kArray, between(begin, at)};
        return {Outcome::kDone, at};
      }
    } else if (c == ',') {
      if (before != 'v') ++odd.stray_commas;
      before = ',';
      ++at;
    } else if (c == ':') {
      before = ':';
      ++at;
    } else {
      if (before == 'v') ++odd.missing_commas;
      Token inner{};
      const bool is_name = c == '"' && open.back() == '{' && before != ':';
      const Place place = is_name              ? Place::kKey
                          : open.back() == '{' ? Place::kMember
                                               : Place::kListItem;
      const Reading read = c == '"' ? string(at, place, inner, odd) : word(at, inner, odd);
      if (read.outcome != Outcome::kDone) return read;
      at = read.next;
      before = is_name ? 'k' : 'v';
    }
  }
  return cut(at);
}

Reading CarefulReader::value(const char* at, bool in_list, Token& token, Oddities& odd) {
  if (at >= end_) return cut(at);
  if (*at == '"') return string(at, in_list ? Place::kListItem : Place::kMember, token, odd);
  if (*at == '{' || *at == '[') return container(at, token, odd);
  return word(at, token, odd);
}

// The members of an object whose '{' is at `at`: of the event itself, of its args or of its id2.
Reading CarefulReader::members(const char* at, Draft& draft, Of of, Oddities& odd) {
  ++at;
  bool after_comma = false;
  bool after_value = false;
  while (true) {
    at = skip_space(at);
    if (at >= end_) return cut(at);
    if (*at == '}') {
      if (after_comma) ++odd.stray_commas;
      return {Outcome::kDone, at + 1};
    }
    if (*at == ',') {
      if (!after_value) ++odd.stray_commas;
      after_comma = true;
      after_value = false;
      ++at;
      continue;
    }
    if (*at != '"') return {Outcome::kUnreadable, at};
    if (after_value) ++odd.missing_commas;
    Token key{};
    Reading read = string(at, Place::kKey, key, odd);
    if (read.outcome != Outcome::kDone) return read;
    at = skip_space(read.next);
    if (at >= end_) return cut(at);
    if (*at != ':') return {Outcome::kUnreadable, at};
    at = skip_space(at + 1);
    if (at >= end_) return cut(at);

    const std::string name =
        key.text.find('\\') == std::string_view::npos ? std::string(key.text) : decode(key.text);
    const Field field = of == Of::kEvent ? field_of(name) : Field::kNone;
    if (field == Field::kArgs) draft.forget_args();
    if (field == Field::kArgs && *at == '{') {
      read = members(at, draft, Of::kArgs, odd);
      if (read.outcome != Outcome::kDone) return read;
    } else if (of == Of::kEvent && name == "id2" && *at == '{') {
      read = members(at, draft, Of::kId2, odd);
      if (read.outcome != Outcome::kDone) return read;
    } else if (*at == ',' || *at == '}') {
      ++odd.bare_words;  // a name without a value
      read.next = at;
    } else {
      Token token{};
      read = value(at, false, token, odd);
      if (read.outcome != Outcome::kDone) return read;
      take(draft, of, name, field, key.text, token);
    }
    at = read.next;
    after_value = true;
    after_comma = false;
  }
}

// One member that was read.
void CarefulReader::take(Draft& draft, Of of, const std::string& name, Field field,
                         std::string_view raw_name, Token token) {
  if (of == Of::kId2) {
    const bool is_text = token.type == TokenType::kString || token.type == TokenType::kNumber;
    if (name == "local" && is_text) draft.local_id = token.text;
    if (name == "global" && is_text) draft.global_id = token.text;
    return;
  }
  const Arg arg = of == Of::kArgs ? arg_of(name) : Arg::kNone;
  // What is looked into at once must be decoded; what is interned is decoded later.
  const ArgType type = type_of(arg);
  const bool kept_as_text =
      type == ArgType::kText || type == ArgType::kTriple || type == ArgType::kList;
  const bool looked_into = field == Field::kPhase || field == Field::kTime ||
                           field == Field::kDuration || (arg != Arg::kNone && !kept_as_text);
  std::string decoded;
  if (looked_into && token.type == TokenType::kString &&
      token.text.find('\\') != std::string_view::npos) {
    decoded = decode(token.text);
    token.text = decoded;
  }
  if (of == Of::kEvent) {
    set_field(draft, field, token);
    return;
  }
  if (arg != Arg::kNone) set_arg(draft, arg, token);
  const bool is_text = token.type == TokenType::kString;
  if (!is_text && token.type != TokenType::kNumber) return;
  const auto number = is_text && token.text.find('\\') != std::string_view::npos
                          ? parse_real(decode(token.text))
                          : parse_real(token.text);
  if (!number) return;
  draft.series.emplace_back(raw_name, *number);
  draft.series_as_text |= is_text;
}

Reading CarefulReader::event(const char* at, Draft& draft, Oddities& odd) {
  return members(at, draft, Of::kEvent, odd);
}

namespace {

// Whether `brace` ('{') begins an object that follows another: "}" "," "{" and then a member's
// name, one that events have unless any will do.
bool begins_event(const char* begin, const char* brace, const char* end,
                  Start start = Start::kKnown) {
  const char* before = brace;
  const auto step_back = [&](char wanted) {
    while (before > begin && is_space(before[-1])) --before;
    if (before == begin || before[-1] != wanted) return false;
    --before;
    return true;
  };
  if (!step_back(',') || !step_back('}')) return false;
  if (start == Start::kKnown) return names_event(brace, end);
  const char* after = brace + 1;
  while (after < end && is_space(*after)) ++after;
  return after == end || *after == '"';
}

// Whether `brace` is the first of its line and a member's name follows: where to go on after text
// that could not be read.
bool begins_line(const char* begin, const char* brace, const char* end) {
  const char* before = brace;
  while (before > begin && (before[-1] == ' ' || before[-1] == '\t')) --before;
  return before > begin && before[-1] == '\n' && names_event(brace, end);
}

// Whether `brace` follows a comma and its first member is what events alone have: so they begin
// where the one before was cut in its middle.
bool begins_with_phase(const char* begin, const char* brace, const char* end) {
  const char* before = brace;
  while (before > begin && is_space(before[-1])) --before;
  return before > begin && before[-1] == ',' && first_member(brace, end) == "ph";
}

// Whether `bracket` (']') closes the list of events: behind an object, before the end, the end of
// the document or another of its keys.
bool ends_list(const char* begin, const char* bracket, const char* end) {
  const char* before = bracket;
  while (before > begin && is_space(before[-1])) --before;
  if (before == begin || before[-1] != '}') return false;
  const char* after = bracket + 1;
  while (after < end && is_space(*after)) ++after;
  if (after == end) return true;
  if (*after == '}') {
    // Of the document, if nothing goes on behind it: the arguments of an event end so, too.
    ++after;
    while (after < end && is_space(*after)) ++after;
    return after == end || (*after != '}' && *after != ',');
  }
  if (*after != ',') return false;
  ++after;
  while (after < end && is_space(*after)) ++after;
  // Inside an event's arguments a list of objects may end like this too; a line of its own, or the
  // end of the text, tells them apart in what writers produce.
  return after < end && *after == '"' && bracket > begin && is_space(bracket[-1]);
}

}  // namespace

bool CarefulReader::list_goes_on(const char* behind_bracket, bool& cut) const {
  const char* at = skip_space(behind_bracket);
  if (at < end_ && *at == '}') at = skip_space(at + 1);
  if (at < end_ && *at != ',') return false;
  if (at < end_) at = skip_space(at + 1);
  return event_follows(at, cut);
}

bool CarefulReader::goes_on_behind_entry(const char* at, bool& cut) const {
  at = skip_space(at);
  if (at < end_ && *at == ']') return true;
  if (at < end_ && *at != ',') return false;
  if (at < end_) at = skip_space(at + 1);
  cut = at == end_ && !ends_;
  if (at == end_ || *at == '}') return false;
  // A key of the document: the entry took the end of the list for its own.
  return *at != '"' || !is_key_at(at, cut);
}

bool CarefulReader::event_follows(const char* at, bool& cut) const {
  at = skip_space(at);
  if (at < end_ && *at != '{') return false;
  if (at < end_ && names_event(at, end_)) return true;
  cut = !ends_ && static_cast<std::size_t>(end_ - at) < kGlimpse;
  return false;
}

const char* resume_after(const char* from, const char* end) {
  for (const char* at = from; at < end; ++at) {
    if (*at == '{' && (begins_event(from, at, end) || begins_line(from, at, end) ||
                       begins_with_phase(from, at, end))) {
      return at;
    }
    if (*at == ']' && ends_list(from, at, end)) return at;
  }
  return end;
}

const char* first_event_start(const char* begin, const char* until, const char* end, Start start) {
  for (const char* at = begin; at < until; ++at) {
    at = static_cast<const char*>(std::memchr(at, '{', static_cast<std::size_t>(until - at)));
    if (at == nullptr) return nullptr;
    const bool is_far = static_cast<std::size_t>(end - at) > kGlimpse;
    if (begins_event(begin, at, is_far ? at + kGlimpse : end, start)) return at;
  }
  return nullptr;
}

const char* last_event_start(const char* begin, const char* end, Start start) {
  const char* at = end;
  while (at > begin) {
    const auto* const brace =
        static_cast<const char*>(memrchr(begin, '{', static_cast<std::size_t>(at - begin)));
    if (brace == nullptr) return nullptr;
    if (begins_event(begin, brace, end, start)) return brace;
    at = brace;
  }
  return nullptr;
}

}  // namespace stepscope::ingest::kineto
