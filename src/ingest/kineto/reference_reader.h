// The slow, obvious reader: one event at a time, every departure from JSON noticed and, where
// possible, understood. It defines what a file means; the fast scanner hands it every event that is
// not plain, and tests hold the fast one to it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/notes.h"
#include "ingest/kineto/raw_event.h"

namespace stepscope::ingest::kineto {

enum class Outcome : std::uint8_t {
  kDone,        // read; `next` is after it
  kIncomplete,  // the text ends inside it
  kUnreadable,  // not understood; `next` is where it was given up
};

struct Reading {
  Outcome outcome;
  const char* next;
};

// Counts of what was odd; noted only when the event is accepted, so that text which is
// read twice (because a stretch ended inside an event) is not counted twice.
struct Oddities {
  std::uint32_t control_characters = 0, unescaped_quotes = 0, bare_words = 0, stray_commas = 0,
                missing_commas = 0;
  bool keeps_quotes = false;
  std::vector<const char*> quotes;  // where they are, if they are kept

  // note(kind, count) for all that were met.
  template <class NoteThem>
  void report(const NoteThem& note) const {
    using base::Note;
    note(Note::kControlCharacter, control_characters);
    note(Note::kUnescapedQuote, unescaped_quotes);
    note(Note::kBareWord, bare_words);
    note(Note::kStrayComma, stray_commas);
    note(Note::kMissingComma, missing_commas);
  }
  bool any() const {
    bool found = false;
    report([&](base::Note, std::uint32_t count) { found = found || count > 0; });
    return found;
  }
};

// What follows a place in the text, where that shows what the place is: whether a quote ends its
// string, whether a bracket ends the list of events. Everywhere `cut` says that the text at hand
// ends before that is known.
class Lookahead {
 public:
  enum class Behind : std::uint8_t {
    kNothing,  // what is open at the end will never be closed
    kEvent,    // where it follows a comma: text is cut where events seem to begin
    kText,     // any
  };
  // Of a string that holds quotes only what events have can be the end.
  enum class Strictness : std::uint8_t { kAnyMember, kKnownMember };
  Lookahead(const char* end, Behind behind) : end_(end), behind_(behind) {}

  const char* skip_space(const char* at) const;
  const char* end() const { return end_; }

  // Whether the quote at `quote` opens the name of a member.
  bool is_key_at(const char* quote, bool& cut) const;

  // Whether a value of the document's header can end at `at`: another key follows, or its end.
  bool header_value_ends(const char* at, bool& cut) const;

  // Whether an event begins after space, as far as its first member says.
  bool event_follows(const char* at, bool& cut) const;
  // Whether other entries of the list follow one that ends at `at`, or the list's end.
  bool goes_on_behind_entry(const char* at, bool& cut) const;
  // Whether events follow a ']' that seems to close their list: it is one too many.
  bool list_goes_on(const char* behind_bracket, bool& cut) const;
  // Whether a ']' between events, or the "]}" that it begins, stands in the middle of some text.
  bool is_in_text(const char* behind_bracket, bool& cut) const;

  // Whether the list of events can go on, or end, after one whose '}' is before `at`.
  bool may_end_entry(const char* at, Strictness strictness, bool& cut) const;
  // Whether a string can end before `at`, as the value of a member of an event or as one of its
  // arguments.
  bool field_ends(const char* at, Strictness strictness, bool& cut) const;
  bool argument_ends(const char* at, Strictness strictness, bool& cut) const;

 protected:
  bool ends() const { return behind_ == Behind::kNothing; }

 private:
  bool at_end(const char* at, bool& cut) const;
  bool entry_begins(const char* at, Strictness strictness, bool& cut) const;
  enum class Names : std::uint8_t { kAny, kOfEvents };
  template <class AfterBrace>
  bool object_goes_on(const char* at, Names names, Strictness strictness, bool& cut,
                      const AfterBrace& after_brace) const;

  const char* end_;
  Behind behind_;
};

class ReferenceReader : public Lookahead {
 public:
  using Lookahead::Lookahead;

  // An event object at `at`, which is its '{'.
  Reading event(const char* at, RawEvent& draft, Oddities& odd) {
    return members(at, draft, Of::kEvent, odd);
  }

  // A string at `at`, its opening quote; as the name of a member or as a value. What follows a
  // value of the file's own header is known better than what follows one inside of some event.
  enum class Place : std::uint8_t { kKey, kField, kArgument, kMember, kHeader, kListItem };
  Reading string(const char* at, Place place, Token& token, Oddities& odd);
  // Any value at `at` (not white space). `place` says what may follow a string.
  Reading value(const char* at, Place place, Token& token, Oddities& odd);

 private:
  // Whose members are read: they mean different things.
  enum class Of : std::uint8_t { kEvent, kArgs, kId2 };
  Reading members(const char* at, RawEvent& draft, Of of, Oddities& odd);
  static void take(RawEvent& draft, Of of, const std::string& name, Field field,
                   std::string_view raw_name, Token token);
  Reading container(const char* at, Token& token, Oddities& odd);
  Reading word(const char* at, Token& token, Oddities& odd) const;
  bool closes(const char* after_quote, Place place, bool has_quotes, bool& cut) const;
  Reading cut(const char* at) const {
    return {ends() ? Outcome::kUnreadable : Outcome::kIncomplete, at};
  }

  std::ptrdiff_t read_on_ = 0;
};

}  // namespace stepscope::ingest::kineto
