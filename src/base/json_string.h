// What the inside of a JSON string means. Forgiving: an escape that is none stands for itself, half
// a surrogate pair becomes U+FFFD.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace stepscope::base {

// The code unit of "uXXXX" at `at`, which is the position of the u.
std::optional<std::uint32_t> code_unit_at(std::string_view raw, std::size_t at);

constexpr bool is_high_surrogate(std::uint32_t unit) { return unit >= 0xD800 && unit <= 0xDBFF; }
constexpr bool is_low_surrogate(std::uint32_t unit) { return unit >= 0xDC00 && unit <= 0xDFFF; }

// The character that a backslash before `c` stands for; nothing where it escapes nothing or is a u.
std::optional<char> simple_escape(char c);

// `raw` is what stands between the quotes.
std::string decode_string(std::string_view raw);

// The text of a value that is a string, any other value as it stands.
std::string decode_json(std::string_view json);

// Text as a JSON string, in quotes; what is not UTF-8 becomes U+FFFD.
std::string json_string(std::string_view text);

}  // namespace stepscope::base
