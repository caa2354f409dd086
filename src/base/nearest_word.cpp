// The word that was probably meant where an unknown one was written.
#include "base/nearest_word.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace stepscope::base {
namespace {

std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({change, last[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before_last[j - 2] + 1);
      }
    }
    before_last.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

}  // namespace

std::string_view nearest_word(std::string_view word, std::span<const std::string_view> words) {
  std::string_view nearest;
  std::size_t least = word.size() / 3 + 1;  // more edits than that and it is another word
  std::size_t nearest_distance = 0;
  for (const std::string_view candidate : words) {
    // A beginning that was not finished is near, however much is missing.
    const bool begun = word.size() >= 2 && candidate.starts_with(word);
    const std::size_t apart = distance(word, candidate);
    const std::size_t edits = begun ? 1 : apart;
    // Of several that begin so, the one with the least missing.
    const bool nearer = edits == least && (nearest.empty() || apart < nearest_distance);
    if (edits < least || nearer) {
      least = edits;
      nearest = candidate;
      nearest_distance = apart;
    }
  }
  return nearest;
}

}  // namespace stepscope::base
