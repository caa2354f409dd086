#include "emit/json/json_text.h"

#include <array>
#include <iterator>

#include <fmt/format.h>

#include "base/utf8.h"
#include "emit/json/plain_run.h"

namespace stepscope::emit {
namespace {

constexpr std::uint64_t kFirstInexact = std::uint64_t{1} << 53;

void append_escaped(std::string& out, char c) {
  constexpr std::string_view kShort = "\"\\\b\f\n\r\t";
  constexpr std::string_view kLetters = "\"\\bfnrt";
  const std::size_t at = kShort.find(c);
  if (at != std::string_view::npos) {
    out += '\\';
    out += kLetters[at];
  } else {
    fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned char>(c));
  }
}

template <class Float>
void append_shortest(std::string& out, Float value) {
  if (std::isfinite(value)) {
    fmt::format_to(std::back_inserter(out), "{}", value);
  } else {
    out += std::isnan(value) ? "\"NaN\"" : value > 0 ? "\"Infinity\"" : "\"-Infinity\"";
  }
}

template <class Int>
void append_quoted_if(std::string& out, Int value, bool quoted) {
  if (quoted) out += '"';
  append_integer(out, value);
  if (quoted) out += '"';
}

}  // namespace

void append_string(std::string& out, std::string_view text) {
  out += '"';
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t plain = plain_run(text, at);
    out.append(text, at, plain);
    at += plain;
    if (at == text.size()) break;
    const char c = text[at];
    if (static_cast<unsigned char>(c) < 0x80) {
      append_escaped(out, c);
      ++at;
    } else {
      const base::Utf8 sequence = base::utf8_at(text, at);
      out += sequence.valid ? text.substr(at, sequence.size) : base::kReplacement;
      at += sequence.size;
    }
  }
  out += '"';
}

void append_integer(std::string& out, std::int64_t value) {
  const fmt::format_int text(value);
  out.append(text.data(), text.size());
}

void append_integer(std::string& out, std::uint64_t value) {
  const fmt::format_int text(value);
  out.append(text.data(), text.size());
}

void append_exact(std::string& out, std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  append_quoted_if(out, value, (value < 0 ? std::uint64_t{0} - bits : bits) >= kFirstInexact);
}

void append_exact(std::string& out, std::uint64_t value) {
  append_quoted_if(out, value, value >= kFirstInexact);
}

void append_float(std::string& out, float value) { append_shortest(out, value); }
void append_float(std::string& out, double value) { append_shortest(out, value); }

void append_micros(std::string& out, base::Nanos time) {
  const auto bits = static_cast<std::uint64_t>(time);
  const std::uint64_t magnitude = time < 0 ? std::uint64_t{0} - bits : bits;
  if (time < 0) out += '-';
  append_integer(out, magnitude / 1000);
  const std::uint64_t rest = magnitude % 1000;
  const std::array<char, 4> decimals = {'.', static_cast<char>('0' + rest / 100),
                                        static_cast<char>('0' + rest / 10 % 10),
                                        static_cast<char>('0' + rest % 10)};
  out.append(decimals.data(), decimals.size());
}

}  // namespace stepscope::emit
