// Writes JSON.
#include "report/writing/json_writer.h"

#include <cmath>

#include <fmt/format.h>

#include "base/json_string.h"

namespace stepscope::report {
namespace {

constexpr std::uint64_t kExactInDouble = std::uint64_t{1} << 53;

}  // namespace

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
  text_ += base::json_string(name);
  text_ += ": ";
  after_key_ = true;
}

void JsonWriter::raw(std::string_view text) {
  separate();
  text_ += text;
}

void JsonWriter::value(std::string_view text) { raw(base::json_string(text)); }

void JsonWriter::value(double number) {
  if (!std::isfinite(number)) {
    null();
  } else {
    raw(fmt::format("{}", number));
  }
}

void JsonWriter::whole(bool negative, std::uint64_t magnitude) {
  const std::string digits = fmt::format("{}{}", negative ? "-" : "", magnitude);
  raw(magnitude < kExactInDouble ? digits : base::json_string(digits));
}

}  // namespace stepscope::report
