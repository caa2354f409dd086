// A number as text, and nothing else: no sign of a plus, no blank, no unit, nothing after it.
#pragma once

#include <charconv>
#include <concepts>
#include <optional>
#include <string_view>
#include <system_error>

namespace stepscope::base {

// Nothing for text that is no such number, or one that T cannot hold: of unsigned types, -1.
template <class T>
  requires std::integral<T> || std::floating_point<T>
std::optional<T> parse_number(std::string_view text) {
  T value{};
  const char* const begin = text.data();
  const char* const stop = begin + text.size();
  const auto [end, error] = std::from_chars(begin, stop, value);
  return error == std::errc() && end == stop ? std::optional(value) : std::nullopt;
}

}  // namespace stepscope::base
