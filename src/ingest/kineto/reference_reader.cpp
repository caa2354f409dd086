// The reader that defines what the text of an event means, one member after the other.
#include "ingest/kineto/reference_reader.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "ingest/kineto/event_starts.h"
#include "ingest/kineto/numbers.h"
#include "ingest/kineto/text.h"

namespace stepscope::ingest::kineto {
namespace {

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

// What stands inside names, and neither between events nor after their list.
bool is_of_text(char c) { return std::string_view("\"'():.;=").find(c) != std::string_view::npos; }

// How much of one event is read on in vain for brackets that its names leave open.
constexpr std::ptrdiff_t kMostReadOn = std::ptrdiff_t{64} << 10;

// What the text opens more than it closes.
int opened_by(char c) {
  if (c == '{' || c == '[' || c == '(') return 1;
  return c == '}' || c == ']' || c == ')' ? -1 : 0;
}

// Whether a member may be called that: a damaged one has no colon.
bool is_plain_name(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return c == ' ' || is_word_character(c) || static_cast<unsigned char>(c) >= 0x80;
  });
}

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

// What stands between events where no object does: a number or one of JSON's words alone. In a name
// the same place is followed by more text.
bool Lookahead::entry_begins(const char* at, Strictness strictness, bool& cut) const {
  if (*at == '{' || *at == ']') return true;
  const bool is_strict = strictness == Strictness::kKnownMember;
  if (!is_word_character(*at)) return !is_strict && (*at == '[' || *at == '"');
  const char* const begin = at;
  while (at < end_ && is_word_character(*at)) ++at;
  const std::string_view word = between(begin, at);
  at = skip_space(at);
  if (at_end(at, cut)) return true;
  if (!is_strict) return !is_of_text(*at);
  const bool is_value =
      word == "null" || word == "true" || word == "false" || looks_like_number(word);
  return is_value && (*at == ',' || *at == ']');
}

bool Lookahead::may_end_entry(const char* at, Strictness strictness, bool& cut) const {
  at = skip_space(at);
  if (at_end(at, cut)) return true;
  const bool is_strict = strictness == Strictness::kKnownMember;
  if (*at == ']') return !is_in_text(at + 1, cut);
  if (*at == '{') return !is_strict || event_follows(at, cut);
  if (*at != ',') return !is_strict && is_word_character(*at);
  while (at < end_ && *at == ',') at = skip_space(at + 1);
  if (at == end_ && behind_ == Behind::kEvent) return true;
  return at_end(at, cut) || entry_begins(at, strictness, cut);
}

// Whether an object's next member begins at `at`, after a value, or the object ends there. Calls
// `after_brace` with what follows its brace.
template <class AfterBrace>
bool Lookahead::object_goes_on(const char* at, Names names, Strictness strictness, bool& cut,
                               const AfterBrace& after_brace) const {
  const bool is_strict = strictness == Strictness::kKnownMember;
  at = skip_space(at);
  const char* const begin = at;
  while (at < end_ && *at == ',' && (at == begin || !is_strict)) at = skip_space(at + 1);
  const bool has_comma = at > begin;
  if (at_end(at, cut)) return true;
  if (*at == '}') return after_brace(at + 1);
  if (*at != '"' || (is_strict && !has_comma)) return false;
  const char* after = closing_quote(at, end_);
  if (after < end_ && *after == '\n') return false;
  const std::string_view name = text_in_quotes(at, end_);
  if (after < end_) after = skip_space(after + 1);
  if (at_end(after, cut)) return true;
  if (*after == ':') {
    return names == Names::kAny || (has_comma && !is_strict) || is_event_key(name);
  }
  // A name without a colon costs only itself, unless this string is odd already.
  return has_comma && !is_strict && is_plain_name(name) &&
         (*after == ',' || *after == '}' || is_word_character(*after));
}

bool Lookahead::field_ends(const char* at, Strictness strictness, bool& cut) const {
  return object_goes_on(at, Names::kOfEvents, strictness, cut,
                        [&](const char* after) { return may_end_entry(after, strictness, cut); });
}

bool Lookahead::argument_ends(const char* at, Strictness strictness, bool& cut) const {
  return object_goes_on(at, Names::kAny, strictness, cut,
                        [&](const char* after) { return field_ends(after, strictness, cut); });
}

// Does a string end at the quote before `after_quote`? In JSON always; here only if what follows
// can follow a string, because names have been written with quotes inside and no backslash.
bool ReferenceReader::closes(const char* after_quote, Place place, bool has_quotes,
                             bool& cut) const {
  const auto strictness = has_quotes ? Strictness::kKnownMember : Strictness::kAnyMember;
  if (place == Place::kField) return field_ends(after_quote, strictness, cut);
  if (place == Place::kArgument) return argument_ends(after_quote, strictness, cut);
  const char* at = skip_space(after_quote);
  if (at == end()) {
    cut = true;
    return true;
  }
  if (place == Place::kKey) return *at == ':';
  if (*at == '}' || *at == ']') return true;
  const bool in_list = place == Place::kListItem;
  if (*at == '"') return !in_list && (is_key_at(at, cut) || cut);
  if (*at != ',') return false;
  at = skip_space(at + 1);
  if (at == end()) {
    cut = true;
    return true;
  }
  if (*at == '}' || *at == ']' || *at == ',') return true;
  if (in_list) return starts_value(*at);
  // A name without a colon costs only itself, unless this string is odd already.
  const bool wants_key = has_quotes || place == Place::kHeader;
  return *at == '"' && (!wants_key || is_key_at(at, cut) || cut);
}

// Of a string with quotes inside the end is the first that leaves no bracket open, else the first:
// what is printed of a dictionary goes on as members of an event do.
Reading ReferenceReader::string(const char* at, Place place, Token& token, Oddities& odd) {
  const char* const begin = at + 1;
  const bool counts_brackets = place == Place::kField || place == Place::kArgument;
  std::int64_t open = 0;
  std::uint32_t quotes = 0, controls = 0, controls_to_end = 0;
  const char* first_end = nullptr;  // with a bracket open
  std::uint32_t quotes_to_end = 0;
  bool crossed_line = false;
  std::vector<const char*> found;
  const auto ends_at = [&](const char* end, std::uint32_t quotes_inside, std::uint32_t inside) {
    token = {TokenType::kString, between(begin, end)};
    odd.control_characters += inside;
    odd.unescaped_quotes += quotes_inside;
    if (odd.keeps_quotes) {
      odd.quotes.insert(odd.quotes.end(), found.begin(), found.begin() + quotes_inside);
    }
    return Reading{Outcome::kDone, end + 1};
  };
  const auto give_up = [&](const char* here) {
    if (first_end == nullptr) return Reading{Outcome::kUnreadable, here};
    read_on_ += here - first_end;
    return ends_at(first_end, quotes_to_end, controls_to_end);
  };
  for (at = begin; at < end(); ++at) {
    if (counts_brackets) open += opened_by(*at);
    if (*at == '\\') {
      ++at;
    } else if (*at == '"') {
      bool is_cut = false;
      const bool is_end = closes(at + 1, place, quotes > 0, is_cut);
      // The text may go on in a way that says otherwise: ask again when more of it is there.
      if (is_cut && !ends()) return cut(at);
      if (is_end && (quotes == 0 || open <= 0)) return ends_at(at, quotes, controls);
      if (is_end && first_end == nullptr) {
        first_end = at;
        quotes_to_end = quotes;
        controls_to_end = controls;
      }
      ++quotes;
      if (odd.keeps_quotes) found.push_back(at);
    } else if (static_cast<unsigned char>(*at) < 0x20) {
      ++controls;
      crossed_line |= *at == '\n';
    } else if (*at == '{' &&
               (begins_event(begin, at, end()) || begins_with_phase(begin, at, end()))) {
      return give_up(at);  // a quote is missing, and this is the next event
    }
    // A quote missing at the end would swallow the events that follow; no writer puts both a line
    // break and a bare quote into one name.
    if (quotes > 0 && crossed_line) return give_up(at);
    if (first_end != nullptr && read_on_ + (at - first_end) > kMostReadOn) return give_up(at);
  }
  if (first_end != nullptr && ends()) return give_up(end());
  return cut(end());
}

Reading ReferenceReader::word(const char* at, Token& token, Oddities& odd) const {
  const char* const begin = at;
  while (at < end() && is_word_character(*at)) ++at;
  if (at == end() && !ends()) return cut(at);
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

// A skipped object or list, however deep: its brackets must pair, its strings must end.
Reading ReferenceReader::container(const char* at, Token& token, Oddities& odd) {
  const char* const begin = at;
  std::string open;
  char before = ',';  // the last thing seen that was not space, as far as commas go
  while (at < end()) {
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

Reading ReferenceReader::value(const char* at, Place place, Token& token, Oddities& odd) {
  if (at >= end()) return cut(at);
  if (*at == '"') return string(at, place, token, odd);
  if (*at == '{' || *at == '[') return container(at, token, odd);
  return word(at, token, odd);
}

// The members of an object whose '{' is at `at`: of the event itself, of its args or of its id2.
Reading ReferenceReader::members(const char* at, RawEvent& draft, Of of, Oddities& odd) {
  ++at;
  bool after_comma = false;
  bool after_value = false;
  while (true) {
    at = skip_space(at);
    if (at >= end()) return cut(at);
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
    if (at >= end()) return cut(at);
    if (*at != ':') return {Outcome::kUnreadable, at};
    at = skip_space(at + 1);
    if (at >= end()) return cut(at);

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
      read = value(at, of == Of::kEvent ? Place::kField : Place::kArgument, token, odd);
      if (read.outcome != Outcome::kDone) return read;
      take(draft, of, name, field, key.text, token);
    }
    at = read.next;
    after_value = true;
    after_comma = false;
  }
}

// One member that was read.
void ReferenceReader::take(RawEvent& draft, Of of, const std::string& name, Field field,
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

}  // namespace stepscope::ingest::kineto
