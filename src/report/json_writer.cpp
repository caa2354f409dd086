#include "report/json_writer.h"

#include <cmath>

#include <fmt/format.h>

#include "report/text_width.h"

namespace stepscope::report {
namespace {

constexpr std::uint64_t kExactInDouble = std::uint64_t{1} << 53;

}  // namespace

std::string json_string(std::string_view text) {
  std::string result = "\"";
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t before = at;
    const char32_t character = next_character(text, at);
    switch (character) {
      case '"':
        result += "\\\"";
        break;
      case '\\':
        result += "\\\\";
        break;
      case '\n':
        result += "\\n";
        break;
      case '\r':
        result += "\\r";
        break;
      case '\t':
        result += "\\t";
        break;
      case 0xfffd:
        result += "\xef\xbf\xbd";
        break;
      default:
        if (character < 0x20 || character == 0x7f) {
          result += fmt::format("\\u{:04x}", static_cast<unsigned>(character));
        } else {
          result += text.substr(before, at - before);
        }
    }
  }
  return result += '"';
}

void JsonWriter::separate() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (has_members_.empty()) return;
  if (has_members_.back()) text_ += ',';
  has_members_.back() = true;
  break_line();
}

void JsonWriter::break_line() {
  text_ += '\n';
  text_.append(2 * has_members_.size(), ' ');
}

void JsonWriter::open(char bracket) {
  separate();
  text_ += bracket;
  has_members_.push_back(false);
}

void JsonWriter::close(char bracket) {
  const bool had_members = has_members_.back();
  has_members_.pop_back();
  if (had_members) break_line();
  text_ += bracket;
}

void JsonWriter::key(std::string_view name) {
  separate();
  text_ += json_string(name);
  text_ += ": ";
  after_key_ = true;
}

void JsonWriter::raw(std::string_view text) {
  separate();
  text_ += text;
}

void JsonWriter::value(std::string_view text) { raw(json_string(text)); }

void JsonWriter::value(double number) {
  if (!std::isfinite(number)) {
    null();
  } else {
    raw(fmt::format("{}", number));
  }
}

void JsonWriter::whole(bool negative, std::uint64_t magnitude) {
  const std::string digits = fmt::format("{}{}", negative ? "-" : "", magnitude);
  raw(magnitude < kExactInDouble ? digits : json_string(digits));
}

}  // namespace stepscope::report
