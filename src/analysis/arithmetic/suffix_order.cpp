#include "analysis/arithmetic/suffix_order.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace stepscope::analysis {
namespace {

using SuffixOrderPlaces = std::vector<std::uint32_t>;

// Puts `from` into `to` by key(place) < keys, equal keys in the order they come.
template <class Key>
void counting_sort(const SuffixOrderPlaces& from, SuffixOrderPlaces& to, std::uint32_t keys,
                   SuffixOrderPlaces& counts, Key key) {
  counts.assign(std::size_t{keys} + 1, 0);
  for (const std::uint32_t place : from) ++counts[key(place) + 1];
  std::partial_sum(counts.begin(), counts.end(), counts.begin());
  for (const std::uint32_t place : from) to[counts[key(place)]++] = place;
}

// Numbers for places in their order, equal ones for places that `differ` does not part.
template <class Differ>
std::uint32_t number(const SuffixOrderPlaces& order, SuffixOrderPlaces& numbers, Differ differ) {
  std::uint32_t last = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i > 0 && differ(order[i - 1], order[i])) ++last;
    numbers[order[i]] = last;
  }
  return last + 1;
}

std::uint32_t equal_symbols(std::span<const std::uint32_t> text, std::uint32_t a, std::uint32_t b,
                            std::uint32_t most) {
  const auto left = static_cast<std::uint32_t>(text.size() - std::max(a, b));
  most = std::min(most, left);
  std::uint32_t equal = 0;
  while (equal < most && text[a + equal] == text[b + equal]) ++equal;
  return equal;
}

}  // namespace

SuffixOrder order_suffixes(std::span<const std::uint32_t> text, std::uint32_t symbols,
                           std::uint32_t depth) {
  const auto size = static_cast<std::uint32_t>(text.size());
  SuffixOrder out;
  if (size == 0) return out;
  SuffixOrderPlaces order(size);
  SuffixOrderPlaces other(size);
  SuffixOrderPlaces numbers(size);
  SuffixOrderPlaces fresh(size);
  SuffixOrderPlaces counts;
  std::iota(other.begin(), other.end(), 0);
  counting_sort(other, order, symbols, counts, [&](std::uint32_t at) { return text[at]; });
  std::uint32_t distinct =
      number(order, numbers, [&](std::uint32_t a, std::uint32_t b) { return text[a] != text[b]; });
  for (std::uint32_t known = 1; known < depth && distinct < size && known < size; known *= 2) {
    // By the second half: it is the first half of a place further on, and those are in order. What
    // has no second half comes first.
    std::uint32_t filled = 0;
    for (std::uint32_t at = size - known; at < size; ++at) other[filled++] = at;
    for (const std::uint32_t at : order) {
      if (at >= known) other[filled++] = at - known;
    }
    counting_sort(other, order, distinct, counts, [&](std::uint32_t at) { return numbers[at]; });
    const auto half = [&](std::uint32_t at) {
      return at + known < size ? std::int64_t{numbers[at + known]} : -1;
    };
    distinct = number(order, fresh, [&](std::uint32_t a, std::uint32_t b) {
      return numbers[a] != numbers[b] || half(a) != half(b);
    });
    std::swap(numbers, fresh);
  }
  // Doubling may have looked further than `depth`; equal up to there is equal.
  out.common.resize(size);
  for (std::uint32_t i = 1; i < size; ++i) {
    out.common[i] = equal_symbols(text, order[i - 1], order[i], depth);
  }
  for (std::uint32_t begin = 0, end = 1; begin < size; begin = end, ++end) {
    while (end < size && out.common[end] == depth) ++end;
    std::sort(order.begin() + begin, order.begin() + end);
  }
  out.at = std::move(order);
  return out;
}

}  // namespace stepscope::analysis
