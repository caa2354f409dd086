#include "session/files/natural_order.h"

#include <algorithm>
#include <cstddef>

#include "base/ascii.h"

namespace stepscope::session {
namespace {

// A slash sorts before all else, so "run/a" comes before "run-2/a" and folders stay together.
int weight(char c) { return c == '/' ? -1 : static_cast<unsigned char>(c); }

std::string_view digits_at(std::string_view text, std::size_t begin) {
  std::size_t end = begin;
  while (end < text.size() && base::is_digit(text[end])) ++end;
  return text.substr(begin, end - begin);
}

// Numbers of any length: the longer one without leading zeros is the larger.
int compare_numbers(std::string_view a, std::string_view b) {
  a.remove_prefix(std::min(a.find_first_not_of('0'), a.size()));
  b.remove_prefix(std::min(b.find_first_not_of('0'), b.size()));
  if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
  return a.compare(b);
}

}  // namespace

bool natural_less(std::string_view a, std::string_view b) {
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() && j < b.size()) {
    if (base::is_digit(a[i]) && base::is_digit(b[j])) {
      const std::string_view left = digits_at(a, i);
      const std::string_view right = digits_at(b, j);
      if (const int order = compare_numbers(left, right); order != 0) return order < 0;
      i += left.size();
      j += right.size();
    } else {
      if (a[i] != b[j]) return weight(a[i]) < weight(b[j]);
      ++i;
      ++j;
    }
  }
  if ((i < a.size()) != (j < b.size())) return j < b.size();
  return a < b;  // equal but for leading zeros
}

}  // namespace stepscope::session
