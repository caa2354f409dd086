// Finds stretches of a text that repeat, by its suffix order, and chooses which of them to join.
#include "analysis/arithmetic/repeats.h"

#include <algorithm>
#include <numeric>
#include <queue>
#include <tuple>
#include <utility>

namespace stepscope::analysis {
namespace {

using RepeatsPlace = Repeat::Place;

// A stretch that may be chosen: a range of the suffix order.
struct RepeatsCandidate {
  std::int64_t saves = 0;      // at most
  std::uint32_t length = 0;    // 1: runs of one symbol
  std::uint32_t earliest = 0;  // place
  std::uint32_t begin = 0, end = 0;

  bool operator<(const RepeatsCandidate& other) const {
    return std::tuple(saves, length, other.earliest) <
           std::tuple(other.saves, other.length, earliest);
  }
};

class Finder {
 public:
  Finder(const RepeatText& text, const RepeatLimits& limits)
      : text_(text), limits_(limits), taken_(text.symbols.size(), 0) {
    sums_.reserve(text.joining.size() + 1);
    sums_.push_back(0);
    for (const std::int64_t saved : text.joining) sums_.push_back(sums_.back() + saved);
    order_ = order_suffixes(text.symbols, text.names + text.breaks, limits.longest);
  }

  std::vector<Repeat> find() {
    list_stretches();
    list_runs();
    std::priority_queue<RepeatsCandidate> queue({}, std::move(candidates_));
    std::vector<Repeat> chosen;
    while (!queue.empty() && (limits_.top == 0 || chosen.size() < limits_.top)) {
      RepeatsCandidate best = queue.top();
      queue.pop();
      Repeat repeat = value_of(best);
      if (repeat.saves <= 0) continue;
      best.saves = repeat.saves;
      if (!queue.empty() && best < queue.top()) {
        queue.push(best);
        continue;
      }
      for (const RepeatsPlace& place : repeat.places) {
        std::fill_n(taken_.begin() + place.first, place.count, 1);
      }
      chosen.push_back(std::move(repeat));
    }
    return chosen;
  }

 private:
  // What joining `count` symbols to one saves.
  std::int64_t saved(std::uint32_t first, std::uint32_t count) const {
    return sums_[first + count] - sums_[first + 1];
  }

  // Every stretch of 2 symbols or more that is followed by different ones, or is as long as may be:
  // the intervals of the suffix order, found with a stack.
  void list_stretches() {
    struct Open {
      std::uint32_t depth, begin;
    };
    std::vector<Open> open;
    const auto size = static_cast<std::uint32_t>(order_.at.size());
    for (std::uint32_t i = 1; i <= size; ++i) {
      const std::uint32_t common = i < size ? order_.common[i] : 0;
      std::uint32_t begin = i - 1;
      while (!open.empty() && open.back().depth > common) {
        begin = open.back().begin;
        add(open.back().depth, begin, i);
        open.pop_back();
      }
      if (common > 0 && (open.empty() || open.back().depth < common)) {
        open.push_back({common, begin});
      }
    }
  }

  void add(std::uint32_t length, std::uint32_t begin, std::uint32_t end) {
    if (length < 2 || end - begin < limits_.min_count) return;
    const std::uint32_t first = order_.at[begin];
    const auto symbols = text_.symbols.begin() + first;
    const bool one_symbol =
        std::all_of(symbols, symbols + length, [&](auto symbol) { return symbol == *symbols; });
    if (one_symbol) return;
    RepeatsCandidate found{0, length, first, begin, end};
    for (std::uint32_t i = begin; i < end; ++i) {
      found.earliest = std::min(found.earliest, order_.at[i]);
      found.saves += saved(order_.at[i], length);
    }
    if (found.saves > 0) candidates_.push_back(found);
  }

  void list_runs() {
    const auto size = static_cast<std::uint32_t>(order_.at.size());
    const auto symbol = [&](std::uint32_t i) { return text_.symbols[order_.at[i]]; };
    for (std::uint32_t begin = 0, end = 0; begin < size; begin = end) {
      while (end < size && symbol(end) == symbol(begin)) ++end;
      if (symbol(begin) >= text_.names) continue;
      RepeatsCandidate found{0, 1, order_.at[begin], begin, end};
      for (std::uint32_t i = begin; i < end; ++i) {
        const std::uint32_t at = order_.at[i];
        found.earliest = std::min(found.earliest, at);
        if (at > 0 && text_.symbols[at - 1] == symbol(begin)) found.saves += text_.joining[at];
      }
      if (found.saves > 0) candidates_.push_back(found);
    }
  }

  bool is_free(std::uint32_t first, std::uint32_t count) const {
    return std::find(taken_.begin() + first, taken_.begin() + first + count, 1) ==
           taken_.begin() + first + count;
  }

  // The places a candidate could take now; none if it is worth nothing.
  Repeat value_of(const RepeatsCandidate& candidate) {
    places_.assign(order_.at.begin() + candidate.begin, order_.at.begin() + candidate.end);
    std::ranges::sort(places_);
    return candidate.length == 1 ? runs() : stretches(candidate.length);
  }

  Repeat stretches(std::uint32_t length) const {
    Repeat out;
    out.length = length;
    std::size_t apart = 0;
    std::uint32_t any_end = 0;   // of the last one, taken or not
    std::uint32_t free_end = 0;  // of the last one in `out`
    std::uint32_t row = 0;
    for (const std::uint32_t at : places_) {
      if (at >= any_end) {
        ++apart;
        any_end = at + length;
      }
      if (at < free_end || !is_free(at, length)) continue;
      row = !out.places.empty() && at == free_end ? row + 1 : 1;
      out.in_a_row = std::max(out.in_a_row, row);
      free_end = at + length;
      out.places.push_back({at, length});
      out.saves += saved(at, length);
    }
    // One that mostly overlaps itself is some rounds of a shorter one.
    const bool is_rounds = apart * 4 < places_.size() * 3;
    return is_rounds || out.places.size() < limits_.min_count ? Repeat{} : out;
  }

  Repeat runs() const {
    Repeat out;
    out.length = 1;
    std::uint32_t joined = 0;
    for (std::size_t i = 0; i < places_.size();) {
      const std::uint32_t first = places_[i];
      std::uint32_t count = 0;
      while (i < places_.size() && places_[i] == first + count && taken_[places_[i]] == 0) {
        ++count;
        ++i;
      }
      if (count == 0) ++i;
      if (count < 2) continue;
      out.places.push_back({first, count});
      out.in_a_row = std::max(out.in_a_row, count);
      out.saves += saved(first, count);
      joined += count - 1;
    }
    return joined < limits_.min_count ? Repeat{} : out;
  }

  const RepeatText& text_;
  const RepeatLimits& limits_;
  std::vector<std::uint8_t> taken_;
  std::vector<std::int64_t> sums_;  // of joining, before each symbol
  SuffixOrder order_;
  std::vector<RepeatsCandidate> candidates_;
  std::vector<std::uint32_t> places_;  // scratch
};

}  // namespace

std::vector<Repeat> find_repeats(const RepeatText& text, const RepeatLimits& limits) {
  return Finder(text, limits).find();
}

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
