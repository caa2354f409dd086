#include "trace/ordering.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/column.h"

namespace stepscope::trace {
namespace {

struct Key {
  base::Nanos start;
  base::Nanos duration;
  std::uint32_t at;
};

bool precedes(base::Nanos start, base::Nanos duration, base::Nanos other_start,
              base::Nanos other_duration) {
  return (start < other_start) | ((start == other_start) & (duration > other_duration));
}

std::vector<std::size_t> runs_of(std::span<const base::Nanos> start,
                                 std::span<const base::Nanos> duration) {
  std::vector<std::size_t> begins = {0};
  for (std::size_t i = 1; i < start.size(); ++i) {
    if (precedes(start[i], duration[i], start[i - 1], duration[i - 1])) begins.push_back(i);
  }
  begins.push_back(start.size());
  return begins;
}

// Merges [a, b) and [b, c) into `out`. The choice is made without a branch: which run holds the
// next event is a coin toss, and a wrong guess would cost more than both loads.
void merge(const Key* a, const Key* b, const Key* c, Key* out) {
  const Key* left = a;
  const Key* right = b;
  while (left < b && right < c) {
    const bool take_right = precedes(right->start, right->duration, left->start, left->duration);
    *out++ = take_right ? *right : *left;
    right += take_right;
    left += !take_right;
  }
  out = std::copy(left, b, out);
  std::copy(right, c, out);
}

void merge_runs(base::Column<Key>& keys, std::vector<std::size_t> begins) {
  base::Column<Key> other(keys.size());
  while (begins.size() > 2) {
    std::vector<std::size_t> merged = {0};
    std::size_t run = 0;
    for (; run + 2 < begins.size(); run += 2) {
      merge(&keys[begins[run]], &keys[begins[run + 1]], keys.span().data() + begins[run + 2],
            &other[begins[run]]);
      merged.push_back(begins[run + 2]);
    }
    if (run + 1 < begins.size()) {
      std::ranges::copy(keys.span().subspan(begins[run]), &other[begins[run]]);
      merged.push_back(keys.size());
    }
    std::swap(keys, other);
    begins = std::move(merged);
  }
}

}  // namespace

void order_rows(std::span<base::Nanos> start, std::span<base::Nanos> duration,
                std::span<std::uint32_t> place) {
  std::vector<std::size_t> begins = runs_of(start, duration);
  if (begins.size() == 2) {
    for (std::size_t i = 0; i < place.size(); ++i) place[i] = static_cast<std::uint32_t>(i);
    return;
  }
  base::Column<Key> keys(start.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    keys[i] = {start[i], duration[i], static_cast<std::uint32_t>(i)};
  }
  merge_runs(keys, std::move(begins));
  for (std::size_t i = 0; i < keys.size(); ++i) {
    start[i] = keys[i].start;
    duration[i] = keys[i].duration;
    place[keys[i].at] = static_cast<std::uint32_t>(i);
  }
}

}  // namespace stepscope::trace
