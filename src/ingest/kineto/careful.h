// The slow, obvious reader: one event at a time, every departure from JSON noticed and, where
// possible, understood. It defines what a file means; the fast scanner hands it every event that is
// not plain, and tests hold the fast one to it.
#pragma once

#include <string>
#include <string_view>

#include "ingest/kineto/draft.h"
#include "trace/stage.h"

namespace stepscope::ingest::kineto {

enum class Outcome : std::uint8_t {
  kDone,        // read; `next` is behind it
  kIncomplete,  // the text ends inside it
  kUnreadable,  // not understood; `next` is where it was given up
};

struct Reading {
  Outcome outcome;
  const char* next;
};

// Counts of what was odd; told to the lane only when the event is accepted, so that text which is
// read twice (because a stretch ended inside an event) is not counted twice.
struct Oddities {
  std::uint32_t control_characters = 0, unescaped_quotes = 0, bare_words = 0, stray_commas = 0,
                missing_commas = 0;
  void tell(trace::Lane& lane, std::uint32_t text_at) const;
};

class CarefulReader {
 public:
  // `ends` says that no text follows `end`: what is open there will never be closed.
  CarefulReader(const char* end, bool ends) : end_(end), ends_(ends) {}

  // An event object at `at`, which is its '{'.
  Reading event(const char* at, Draft& draft, Oddities& odd);

  // Any value at `at` (not white space). `in_list` says what may follow a string.
  Reading value(const char* at, bool in_list, Token& token, Oddities& odd);

  // A string at `at`, its opening quote; as the name of a member or as a value.
  enum class Place : std::uint8_t { kKey, kMember, kListItem };
  Reading string(const char* at, Place place, Token& token, Oddities& odd);

  // Whether an event begins behind space, as far as its first member says. `cut` says that the text
  // ends before that can be told.
  bool event_follows(const char* at, bool& cut) const;
  // Whether other entries of the list follow one that ends at `at`, or the list's end.
  bool goes_on_behind_entry(const char* at, bool& cut) const;
  // Whether events follow a ']' that seems to close their list: it is one too many.
  bool list_goes_on(const char* behind_bracket, bool& cut) const;

  const char* skip_space(const char* at) const;
  const char* end() const { return end_; }

 private:
  // Whose members are read: they mean different things.
  enum class Of : std::uint8_t { kEvent, kArgs, kId2 };
  Reading members(const char* at, Draft& draft, Of of, Oddities& odd);
  static void take(Draft& draft, Of of, const std::string& name, Field field,
                   std::string_view raw_name, Token token);
  Reading container(const char* at, Token& token, Oddities& odd);
  Reading word(const char* at, Token& token, Oddities& odd) const;
  bool closes(const char* after_quote, Place place, bool& cut) const;
  bool is_key_at(const char* quote, bool& cut) const;
  Reading cut(const char* at) const {
    return {ends_ ? Outcome::kUnreadable : Outcome::kIncomplete, at};
  }

  const char* end_;
  bool ends_;
};

// Where to go on after text that could not be read: the next '{' behind "}," with a member behind
// it, one at the beginning of a line or with a phase, or the ']' that seems to close the list.
// Returns `end` when there is neither.
const char* resume_after(const char* from, const char* end);
// What seems to begin an event: an object behind another whose first member is one that events
// have; or any object behind another, for text that has none of these.
enum class Start : std::uint8_t { kKnown, kAny };
// The first in [begin, until), or nullptr. `end`, where the text at hand ends, changes nothing once
// it is kGlimpse behind `until`, or the end of all text.
const char* first_event_start(const char* begin, const char* until, const char* end, Start start);
inline constexpr std::size_t kGlimpse = 256;
// The last in [begin, end), or nullptr.
const char* last_event_start(const char* begin, const char* end, Start start);

}  // namespace stepscope::ingest::kineto
