// Where events begin in text of which the beginning is not known, or could not be read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "ingest/kineto/fast_numbers.h"

namespace stepscope::ingest::kineto {

using fast::is_space;

inline std::string_view between(const char* from, const char* to) {
  return {from, static_cast<std::size_t>(to - from)};
}

// The quote that ends the text after `quote`; the end of its line, or `end`, where none does.
const char* closing_quote(const char* quote, const char* end);
// What stands between the two; nothing where there is no second one.
std::string_view text_in_quotes(const char* quote, const char* end);

// Whether events have members of this name.
bool is_event_key(std::string_view name);
// Whether the object at `brace` begins with a member that an event has.
bool names_event(const char* brace, const char* end);
// Whether `brace` follows a comma and its first member is what events alone have: so they begin
// where the one before was cut in its middle.
bool begins_with_phase(const char* begin, const char* brace, const char* end);

// What seems to begin an event: an object after another whose first member is one that events
// have; or any object after another, for text that has none of these.
enum class Start : std::uint8_t { kKnown, kAny };
bool begins_event(const char* begin, const char* brace, const char* end,
                  Start start = Start::kKnown);

// The first in [begin, until), or nullptr. `end`, where the text at hand ends, changes nothing once
// it is kGlimpse after `until`, or the end of all text.
const char* first_event_start(const char* begin, const char* until, const char* end, Start start);
inline constexpr std::size_t kGlimpse = 256;
// The last in [begin, end), or nullptr.
const char* last_event_start(const char* begin, const char* end, Start start);

// Where to go on after text that could not be read: the next '{' after "}," with a member after
// it, one at the beginning of a line or with a phase, or the ']' that seems to close the list.
// Returns `end` when there is neither.
const char* resume_after(const char* from, const char* end);

}  // namespace stepscope::ingest::kineto
