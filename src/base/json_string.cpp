// JSON strings: what their escapes mean, and text written as one.
#include "base/json_string.h"

#include <charconv>

#include <fmt/format.h>

#include "base/utf8.h"

namespace stepscope::base {
namespace {

// Appends what the escape at `at` (its u) means and returns where it ends; 0 when it is none.
std::size_t append_unicode_escape(std::string& out, std::string_view raw, std::size_t at) {
  const auto unit = code_unit_at(raw, at);
  if (!unit) return 0;
  if (is_high_surrogate(*unit) && raw.substr(at + 5, 1) == "\\") {
    if (const auto low = code_unit_at(raw, at + 6); low && is_low_surrogate(*low)) {
      append_utf8(out, 0x10000 + ((*unit - 0xD800) << 10) + (*low - 0xDC00));
      return at + 11;
    }
  }
  if (is_high_surrogate(*unit) || is_low_surrogate(*unit)) {
    out += kReplacement;
  } else {
    append_utf8(out, *unit);
  }
  return at + 5;
}

}  // namespace

std::optional<char> simple_escape(char c) {
  switch (c) {
    case '"':
    case '\\':
    case '/':
      return c;
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    default:
      return std::nullopt;
  }
}

std::optional<std::uint32_t> code_unit_at(std::string_view raw, std::size_t at) {
  if (at + 5 > raw.size() || raw[at] != 'u') return std::nullopt;
  std::uint32_t unit = 0;
  const char* begin = raw.data() + at + 1;
  const auto [end, error] = std::from_chars(begin, begin + 4, unit, 16);
  if (error != std::errc() || end != begin + 4) return std::nullopt;
  return unit;
}

std::string decode_string(std::string_view raw) {
  std::string out;
  out.reserve(raw.size());
  for (std::size_t at = 0; at < raw.size();) {
    const std::size_t escape = raw.find('\\', at);
    out.append(raw, at, escape - at);
    if (escape == std::string_view::npos) break;
    at = escape + 1;
    if (at == raw.size()) {
      out += '\\';
    } else if (const auto meant = simple_escape(raw[at])) {
      out += *meant;
      ++at;
    } else if (const std::size_t end = append_unicode_escape(out, raw, at); end != 0) {
      at = end;
    } else {
      out += '\\';
    }
  }
  return out;
}

std::string decode_json(std::string_view json) {
  if (json.size() < 2 || json.front() != '"' || json.back() != '"') return std::string(json);
  return decode_string(json.substr(1, json.size() - 2));
}

std::string json_string(std::string_view text) {
  std::string result = "\"";
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (const std::size_t letter = std::string_view("\"\\\n\r\t").find(c);
        letter != std::string_view::npos) {
      result += '\\';
      result += "\"\\nrt"[letter];
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      result += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      const Utf8 sequence = utf8_at(text, at);
      // One mark for every byte that makes no sense: what is shown and what is written agree.
      result.append(sequence.valid ? text.substr(at, sequence.size) : kReplacement);
      at += sequence.valid ? sequence.size : 1;
      continue;
    }
    ++at;
  }
  return result += '"';
}

}  // namespace stepscope::base
