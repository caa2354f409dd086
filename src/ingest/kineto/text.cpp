#include "ingest/kineto/text.h"

#include <algorithm>
#include <optional>

namespace stepscope::ingest::kineto {
namespace {

constexpr std::uint32_t kReplacement = 0xfffd;

struct Sequence {
  std::size_t size;  // bytes taken, at least 1
  bool valid;
};

unsigned char byte_at(std::string_view text, std::size_t at) {
  return at < text.size() ? static_cast<unsigned char>(text[at]) : 0;
}

bool is_continuation(unsigned char c) { return (c & 0xc0) == 0x80; }

// One UTF-8 sequence at `at`. An ill-formed one takes its longest well-formed beginning, as Unicode
// recommends, so that a repair shows one mark per damaged character.
Sequence sequence_at(std::string_view text, std::size_t at) {
  const unsigned char lead = byte_at(text, at);
  if (lead < 0x80) return {1, true};
  const unsigned char second = byte_at(text, at + 1);
  std::size_t size = 0;
  unsigned char low = 0x80;
  unsigned char high = 0xbf;
  if (lead >= 0xc2 && lead <= 0xdf) {
    size = 2;
  } else if (lead >= 0xe0 && lead <= 0xef) {
    size = 3;
    if (lead == 0xe0) low = 0xa0;
    if (lead == 0xed) high = 0x9f;
  } else if (lead >= 0xf0 && lead <= 0xf4) {
    size = 4;
    if (lead == 0xf0) low = 0x90;
    if (lead == 0xf4) high = 0x8f;
  } else {
    return {1, false};
  }
  if (second < low || second > high) return {1, false};
  for (std::size_t i = 2; i < size; ++i) {
    if (!is_continuation(byte_at(text, at + i))) return {i, false};
  }
  return {size, true};
}

void append_utf8(std::string& out, std::uint32_t code) {
  const auto put = [&](std::uint32_t c) { out += static_cast<char>(c); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xc0 | code >> 6);
    put(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    put(0xe0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3f));
    put(0x80 | (code & 0x3f));
  } else {
    put(0xf0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3f));
    put(0x80 | (code >> 6 & 0x3f));
    put(0x80 | (code & 0x3f));
  }
}

std::optional<std::uint32_t> hex_4(std::string_view text, std::size_t at) {
  if (at + 4 > text.size()) return std::nullopt;
  std::uint32_t value = 0;
  for (std::size_t i = at; i < at + 4; ++i) {
    const char c = text[i];
    std::uint32_t digit = 0;
    if (c >= '0' && c <= '9') {
      digit = static_cast<std::uint32_t>(c - '0');
    } else if (c >= 'a' && c <= 'f') {
      digit = static_cast<std::uint32_t>(c - 'a') + 10;
    } else if (c >= 'A' && c <= 'F') {
      digit = static_cast<std::uint32_t>(c - 'A') + 10;
    } else {
      return std::nullopt;
    }
    value = value * 16 + digit;
  }
  return value;
}

// \uXXXX at `at` (the backslash), with its partner if it is the first of a pair. Returns the bytes
// taken; 0 if the digits are not there.
std::size_t append_unicode(std::string& out, std::string_view raw, std::size_t at) {
  const std::optional<std::uint32_t> first = hex_4(raw, at + 2);
  if (!first) return 0;
  if (*first < 0xd800 || *first > 0xdfff) {
    append_utf8(out, *first);
    return 6;
  }
  if (*first < 0xdc00 && byte_at(raw, at + 6) == '\\' && byte_at(raw, at + 7) == 'u') {
    const std::optional<std::uint32_t> second = hex_4(raw, at + 8);
    if (second && *second >= 0xdc00 && *second <= 0xdfff) {
      append_utf8(out, 0x10000 + ((*first - 0xd800) << 10) + (*second - 0xdc00));
      return 12;
    }
  }
  append_utf8(out, kReplacement);
  return 6;
}

// The character a simple escape stands for, or 0.
char simple_escape(char c) {
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
      return 0;
  }
}

bool is_plain(std::string_view raw) {
  return std::all_of(raw.begin(), raw.end(),
                     [](char c) { return c != '\\' && static_cast<unsigned char>(c) < 0x80; });
}

}  // namespace

std::string decode(std::string_view raw) {
  if (is_plain(raw)) return std::string(raw);
  std::string out;
  out.reserve(raw.size());
  std::size_t at = 0;
  while (at < raw.size()) {
    if (raw[at] == '\\' && at + 1 < raw.size()) {
      if (const char meant = simple_escape(raw[at + 1])) {
        out += meant;
        at += 2;
        continue;
      }
      if (raw[at + 1] == 'u') {
        if (const std::size_t taken = append_unicode(out, raw, at)) {
          at += taken;
          continue;
        }
      }
      out += raw[at++];
      continue;
    }
    const Sequence sequence = sequence_at(raw, at);
    if (sequence.valid) {
      out.append(raw.substr(at, sequence.size));
    } else {
      append_utf8(out, kReplacement);
    }
    at += sequence.size;
  }
  return out;
}

TextFaults faults_of(std::string_view text) {
  TextFaults faults;
  std::size_t at = 0;
  while (at < text.size()) {
    if (text[at] == '\\') {
      const char next = at + 1 < text.size() ? text[at + 1] : '\0';
      const bool known = simple_escape(next) != 0 || (next == 'u' && hex_4(text, at + 2));
      faults.bad_escapes += known ? 0 : 1;
      at += known ? 2 : 1;
      continue;
    }
    const Sequence sequence = sequence_at(text, at);
    faults.broken_utf8 += sequence.valid ? 0 : 1;
    at += sequence.size;
  }
  return faults;
}

}  // namespace stepscope::ingest::kineto
