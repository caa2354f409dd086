// The small pieces of JSON text: blanks, numbers, escapes, and words that are none of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace stepscope::emit {

inline std::size_t skip_blanks(std::string_view text, std::size_t at) {
  while (at < text.size() &&
         (text[at] == ' ' || text[at] == '\n' || text[at] == '\r' || text[at] == '\t')) {
    ++at;
  }
  return at;
}

// Where a word without quotes ends: "N/A", "NaN", true, and every number. `at` itself when what
// stands there cannot be part of one.
std::size_t word_end(std::string_view text, std::size_t at);

// A number as JSON has it, true, false or null.
bool is_json_word(std::string_view word);

// A word as a JSON value that a reader takes for the same: itself when it is JSON; a number in
// JSON's spelling; a string for "N/A" and its like; null for what must not be taken for a number.
std::string json_of_word(std::string_view word);

// Where a string stands decides what may follow it.
enum class Place : std::uint8_t { kKey, kMember, kListItem };

// The position of the quote that closes the string which begins at `at`, or the end of the text.
// Some writers do not escape quotes: a quote that cannot be the end of its string is part of it.
std::size_t string_end(std::string_view text, std::size_t at, Place place);

// Can a string end before `at`, going by what follows?
bool may_end_before(std::string_view text, std::size_t at, Place place);

struct Escape {
  std::size_t size;  // of what stands there
  bool valid;
  std::string_view instead;  // the same meaning in valid JSON, when it is not
};
// The escape whose backslash is at `at`.
Escape escape_at(std::string_view text, std::size_t at);

// Arguments that the model keeps as text: for them a word without quotes is nothing, and must not
// become a string.
bool is_kept_as_text(std::string_view key);

// Arguments of which the model keeps the JSON itself: what operators were called with.
bool is_kept_whole(std::string_view key);

}  // namespace stepscope::emit
