// Measures and cuts text by the columns it takes.
#include "report/writing/text_width.h"

#include <algorithm>
#include <iterator>

#include "base/utf8.h"

namespace stepscope::report {
namespace {

struct Range {
  char32_t first, last;
};

// Combining marks, variation selectors, joiners: of the scripts that names are likely to use.
constexpr Range kNoWidth[] = {
    {0x0300, 0x036f},  {0x0483, 0x0489}, {0x0591, 0x05bd}, {0x05bf, 0x05bf}, {0x05c1, 0x05c2},
    {0x0610, 0x061a},  {0x064b, 0x065f}, {0x0670, 0x0670}, {0x06d6, 0x06dc}, {0x0711, 0x0711},
    {0x0730, 0x074a},  {0x0900, 0x0902}, {0x093a, 0x093a}, {0x093c, 0x093c}, {0x0941, 0x0948},
    {0x094d, 0x094d},  {0x0e31, 0x0e31}, {0x0e34, 0x0e3a}, {0x0e47, 0x0e4e}, {0x1ab0, 0x1aff},
    {0x1dc0, 0x1dff},  {0x200b, 0x200f}, {0x202a, 0x202e}, {0x2060, 0x2064}, {0x20d0, 0x20ff},
    {0x302a, 0x302d},  {0x3099, 0x309a}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}, {0xfeff, 0xfeff},
    {0xe0100, 0xe01ef}};

// East Asian Wide and Fullwidth, and the emoji that terminals draw two columns wide.
constexpr Range kWide[] = {
    {0x1100, 0x115f},   {0x231a, 0x231b},   {0x2329, 0x232a},   {0x23e9, 0x23ec},
    {0x2614, 0x2615},   {0x2648, 0x2653},   {0x26a1, 0x26a1},   {0x2705, 0x2705},
    {0x270a, 0x270b},   {0x2728, 0x2728},   {0x274c, 0x274c},   {0x2753, 0x2755},
    {0x2e80, 0x303e},   {0x3041, 0x33ff},   {0x3400, 0x4dbf},   {0x4e00, 0x9fff},
    {0xa000, 0xa4cf},   {0xa960, 0xa97f},   {0xac00, 0xd7a3},   {0xf900, 0xfaff},
    {0xfe10, 0xfe19},   {0xfe30, 0xfe6f},   {0xff00, 0xff60},   {0xffe0, 0xffe6},
    {0x1f300, 0x1f64f}, {0x1f680, 0x1f6ff}, {0x1f900, 0x1f9ff}, {0x1fa70, 0x1faff},
    {0x20000, 0x2fffd}, {0x30000, 0x3fffd}};

template <std::size_t N>
bool is_in(char32_t character, const Range (&ranges)[N]) {
  const auto* found = std::ranges::lower_bound(ranges, character, {}, &Range::last);
  return found != std::end(ranges) && found->first <= character;
}

constexpr std::string_view kEllipsis = "…";

bool is_control(char32_t c) { return c < 0x20 || (c >= 0x7f && c < 0xa0); }

// The longest beginning that takes at most `width` columns.
std::string_view beginning(std::string_view text, std::size_t width) {
  std::size_t at = 0;
  std::size_t used = 0;
  while (at < text.size()) {
    std::size_t after = at;
    used += static_cast<std::size_t>(character_width(next_character(text, after)));
    if (used > width) break;
    at = after;
  }
  return text.substr(0, at);
}

// The longest end that takes at most `width` columns.
std::string_view ending(std::string_view text, std::size_t width) {
  std::size_t at = 0;
  std::size_t left = text_width(text);
  while (at < text.size() && left > width) {
    left -= static_cast<std::size_t>(character_width(next_character(text, at)));
  }
  return text.substr(at);
}

}  // namespace

char32_t next_character(std::string_view text, std::size_t& at) {
  constexpr char32_t kBroken = 0xfffd;
  const base::Utf8 sequence = base::utf8_at(text, at);
  const std::size_t begin = at;
  at += sequence.valid ? sequence.size : 1;
  if (!sequence.valid) return kBroken;
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[begin + i]); };
  if (sequence.size == 1) return byte(0);
  char32_t value = byte(0) & (0xffu >> (sequence.size + 1));
  for (std::size_t i = 1; i < sequence.size; ++i) value = value << 6 | (byte(i) & 0x3fu);
  return value;
}

int character_width(char32_t character) {
  if (is_control(character)) return 0;
  if (character < 0x300) return 1;
  if (is_in(character, kNoWidth)) return 0;
  return is_in(character, kWide) ? 2 : 1;
}

std::size_t text_width(std::string_view text) {
  std::size_t width = 0;
  for (std::size_t at = 0; at < text.size();) {
    width += static_cast<std::size_t>(character_width(next_character(text, at)));
  }
  return width;
}

std::string printable(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t before = at;
    const char32_t character = next_character(text, at);
    if (is_control(character) || character == 0xfffd) {
      result += base::kReplacement;
    } else {
      result += text.substr(before, at - before);
    }
  }
  return result;
}

std::string cut_end(std::string_view text, std::size_t width) {
  if (text_width(text) <= width) return std::string(text);
  if (width == 0) return {};
  return std::string(beginning(text, width - 1)).append(kEllipsis);
}

std::string cut_middle(std::string_view text, std::size_t width) {
  if (text_width(text) <= width) return std::string(text);
  if (width == 0) return {};
  // The end of a path says more than its beginning.
  const std::size_t front = (width - 1) / 3;
  const std::string_view back = ending(text, width - 1 - front);
  return std::string(beginning(text, front)).append(kEllipsis).append(back);
}

}  // namespace stepscope::report
