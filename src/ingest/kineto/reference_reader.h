// The slow, obvious reader: one event at a time, every departure from JSON noticed and, where
// possible, understood. It defines what a file means; the fast scanner hands it every event that is
// not plain, and tests hold the fast one to it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/notes.h"
#include "ingest/kineto/draft.h"
#include "ingest/kineto/lookahead.h"

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

// Counts of what was odd; told only when the event is accepted, so that text which is
// read twice (because a stretch ended inside an event) is not counted twice.
struct Oddities {
  std::uint32_t control_characters = 0, unescaped_quotes = 0, bare_words = 0, stray_commas = 0,
                missing_commas = 0;
  bool keeps_quotes = false;
  std::vector<const char*> quotes;  // where they are, if they are kept

  // note(kind, count) for all that were met.
  template <class NoteThem>
  void tell(const NoteThem& note) const {
    using base::Note;
    note(Note::kControlCharacter, control_characters);
    note(Note::kUnescapedQuote, unescaped_quotes);
    note(Note::kBareWord, bare_words);
    note(Note::kStrayComma, stray_commas);
    note(Note::kMissingComma, missing_commas);
  }
  bool any() const {
    bool found = false;
    tell([&](base::Note, std::uint32_t count) { found = found || count > 0; });
    return found;
  }
};

class ReferenceReader : public Lookahead {
 public:
  using Lookahead::Lookahead;

  // An event object at `at`, which is its '{'. It may be read several times, if it may, for strings
  // with quotes in them; retried_bytes() is how much that was.
  Reading event(const char* at, RawEvent& draft, Oddities& odd, bool may_retry = true);
  std::size_t retried_bytes() const { return retried_bytes_; }

  // A string at `at`, its opening quote; as the name of a member or as a value. What follows a
  // value of the file's own header is known better than what follows one inside of some event.
  enum class Place : std::uint8_t { kKey, kMember, kField, kArgument, kHeader, kListItem };
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
  // How strings of an event end: where one can end in JSON; only where the event goes on as events
  // do; and only where what the string opens is closed as well.
  enum class Rigor : std::uint8_t { kLax, kWhole, kBalanced };
  struct Inside {  // of the string so far
    bool has_quotes;
    bool is_balanced;
  };
  bool closes(const char* after_quote, Place place, Inside inside, bool& cut) const;
  bool retry(const char* at, Rigor rigor, RawEvent& draft, Oddities& odd, Reading& reading);
  Reading cut(const char* at) const {
    return {ends() ? Outcome::kUnreadable : Outcome::kIncomplete, at};
  }

  Rigor rigor_ = Rigor::kLax;
  bool met_quote_ = false;       // that did not end its string
  const char* limit_ = nullptr;  // no string of an event that is read again goes on behind it
  std::size_t retried_bytes_ = 0;
};

}  // namespace stepscope::ingest::kineto
