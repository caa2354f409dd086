// How many columns text takes on a terminal: wide characters take two, combining marks none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace stepscope::report {

// The character that begins at text[at], and moves `at` after it. Bytes that are not UTF-8 come
// back one at a time as U+FFFD.
char32_t next_character(std::string_view text, std::size_t& at);

int character_width(char32_t character);
std::size_t text_width(std::string_view text);

// The text as it may be shown: control characters, which could move the cursor or change colours,
// and broken UTF-8 become U+FFFD.
std::string printable(std::string_view text);

// At most `width` columns; what does not fit is replaced by one ellipsis.
std::string cut_end(std::string_view text, std::size_t width);
std::string cut_middle(std::string_view text, std::size_t width);  // keeps both ends: for paths

}  // namespace stepscope::report
