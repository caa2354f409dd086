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

bool precedes(const Key& a, const Key& b) {
  return precedes(a.start, a.duration, b.start, b.duration);
}

// Merges the neighbours [a, b) and [b, c). Runs of different times, as of one step after another,
// hardly overlap: only what does is moved. The choice is made without a branch: which run holds the
// next event is a coin toss, and a wrong guess would cost more than both loads.
void merge(Key* a, Key* b, Key* c, std::vector<Key>& room) {
  a = std::partition_point(a, b, [&](const Key& left) { return !precedes(*b, left); });
  if (a == b) return;
  c = std::partition_point(b, c, [&](const Key& right) { return precedes(right, b[-1]); });
  room.assign(a, b);
  const Key* left = room.data();
  const Key* const left_end = left + room.size();
  const Key* right = b;
  Key* out = a;
  while (left < left_end && right < c) {
    const bool take_right = precedes(*right, *left);
    *out++ = take_right ? *right : *left;
    right += take_right;
    left += !take_right;
  }
  std::copy(left, left_end, out);
}

void merge_runs(base::Column<Key>& keys, std::vector<std::size_t> begins) {
  std::vector<Key> room;
  Key* const first = keys.span().data();
  while (begins.size() > 2) {
    std::vector<std::size_t> merged = {0};
    std::size_t run = 0;
    for (; run + 2 < begins.size(); run += 2) {
      merge(first + begins[run], first + begins[run + 1], first + begins[run + 2], room);
      merged.push_back(begins[run + 2]);
    }
    if (run + 1 < begins.size()) merged.push_back(keys.size());
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
