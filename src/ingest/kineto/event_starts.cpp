// Finds where events begin in text of unknown beginning.
#include "ingest/kineto/event_starts.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "ingest/kineto/keys.h"

namespace stepscope::ingest::kineto {
namespace {

// Members of events that are not read here.
constexpr std::array<std::string_view, 12> kOtherKeys = {"bp",    "s",      "id2",     "cname",
                                                         "tts",   "tdur",   "sf",      "esf",
                                                         "stack", "estack", "bind_id", "use_async"};

// The name of the first member of the object at `brace`; empty where there is none.
std::string_view first_member(const char* brace, const char* end) {
  const char* after = brace + 1;
  while (after < end && is_space(*after)) ++after;
  return after == end || *after != '"' ? std::string_view{} : text_in_quotes(after, end);
}

// Whether `brace` is the first of its line and a member's name follows: where to go on after text
// that could not be read.
bool begins_line(const char* begin, const char* brace, const char* end) {
  const char* before = brace;
  while (before > begin && (before[-1] == ' ' || before[-1] == '\t')) --before;
  return before > begin && before[-1] == '\n' && names_event(brace, end);
}

// Whether `bracket` (']') closes the list of events: after an object, before the end, the end of
// the document or another of its keys.
bool ends_list(const char* begin, const char* bracket, const char* end) {
  const char* before = bracket;
  while (before > begin && is_space(before[-1])) --before;
  if (before == begin || before[-1] != '}') return false;
  const char* after = bracket + 1;
  while (after < end && is_space(*after)) ++after;
  if (after == end) return true;
  if (*after == '}') {
    // Of the document, if nothing goes on after it: the arguments of an event end so, too, and
    // what programs print of their data.
    const char* const brace = after++;
    while (after < end && is_space(*after)) ++after;
    return after == end || (*after != '}' && *after != ',' && after > brace + 1) || *after == '{' ||
           *after == '[';
  }
  if (*after != ',') return false;
  ++after;
  while (after < end && is_space(*after)) ++after;
  // Inside an event's arguments a list of objects may end like this too; a line of its own, or the
  // end of the text, tells them apart in what writers produce.
  return after < end && *after == '"' && bracket > begin && is_space(bracket[-1]);
}

}  // namespace

const char* closing_quote(const char* quote, const char* end) {
  const char* at = quote + 1;
  while (at < end && *at != '"' && *at != '\n') at += *at == '\\' ? 2 : 1;
  return std::min(at, end);
}

std::string_view text_in_quotes(const char* quote, const char* end) {
  const char* const close = closing_quote(quote, end);
  return close == end || *close != '"' ? std::string_view{} : between(quote + 1, close);
}

bool is_event_key(std::string_view name) {
  return field_of(name) != Field::kNone ||
         std::find(kOtherKeys.begin(), kOtherKeys.end(), name) != kOtherKeys.end();
}

// Fewer names than events have: objects in arguments begin with many.
bool names_event(const char* brace, const char* end) {
  const std::string_view name = first_member(brace, end);
  return !name.empty() && (field_of(name) != Field::kNone || name == "bp" || name == "s");
}

bool begins_with_phase(const char* begin, const char* brace, const char* end) {
  const char* before = brace;
  while (before > begin && is_space(before[-1])) --before;
  return before > begin && before[-1] == ',' && first_member(brace, end) == "ph";
}

// "}" "," "{" and then a member's name.
bool begins_event(const char* begin, const char* brace, const char* end, Start start) {
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
