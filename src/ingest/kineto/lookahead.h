// What follows a place in the text, where that tells what the place is: whether a quote ends its
// string, whether a brace ends an event. Everywhere `cut` says that the text at hand ends before it
// can be told.
#pragma once

#include <cstdint>

namespace stepscope::ingest::kineto {

class Lookahead {
 public:
  enum class Behind : std::uint8_t {
    kNothing,  // what is open at the end will never be closed
    kEvent,    // where it follows a comma: text is cut where events seem to begin
    kText,     // any
  };
  Lookahead(const char* end, Behind behind) : end_(end), behind_(behind) {}

  const char* skip_space(const char* at) const;
  const char* end() const { return end_; }

  // Whether the quote at `quote` opens the name of a member.
  bool is_key_at(const char* quote, bool& cut) const;

  // Whether a value of the document's header can end at `at`: another key follows, or its end.
  bool header_value_ends(const char* at, bool& cut) const;

  // Whether an event begins behind space, as far as its first member says.
  bool event_follows(const char* at, bool& cut) const;
  // Whether other entries of the list follow one that ends at `at`, or the list's end.
  bool goes_on_behind_entry(const char* at, bool& cut) const;
  // Whether events follow a ']' that seems to close their list: it is one too many.
  bool list_goes_on(const char* behind_bracket, bool& cut) const;
  // Whether a ']' between events, or the "]}" that it begins, stands in the middle of some text.
  bool is_in_text(const char* behind_bracket, bool& cut) const;

  // Whether what seems to be a whole event may be one that ends at `at`, as far as JSON goes.
  bool may_end_entry(const char* at, bool& cut) const;
  // The same for one that is read in another way than JSON's: another object follows, or the end of
  // the list and of the document.
  bool entry_ends(const char* at, bool& cut) const;
  // Whether a string can end before `at`, as the value of a member of an event or as one of its
  // arguments, if what it stands in goes on as events do.
  bool field_ends(const char* at, bool& cut) const;
  bool argument_ends(const char* at, bool& cut) const;

 protected:
  bool ends() const { return behind_ == Behind::kNothing; }

 private:
  bool at_end(const char* at, bool& cut) const;
  bool is_field_at(const char* quote, bool& cut) const;
  bool list_ends(const char* at, bool& cut) const;
  bool document_ends(const char* at, bool& cut) const;

  const char* end_;
  Behind behind_;
};

}  // namespace stepscope::ingest::kineto
