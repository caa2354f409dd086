// Sorts the rows of a track by merging its sorted runs, slice by slice.
#include "trace/ordering.h"

#include <algorithm>
#include <utility>

namespace stepscope::trace {
namespace {

// Every kSampled-th row tells how the rows spread over time; a slice has about kSliceSamples of
// them: keys of a slice and the room to merge them in fit into a core's cache.
constexpr std::size_t kSampled = 2048;
constexpr std::size_t kSliceSamples = 12;

// The times at which one slice ends and the next begins, ascending.
std::vector<base::Nanos> borders(std::span<const base::Nanos> start) {
  std::vector<base::Nanos> sample;
  for (std::size_t i = 0; i < start.size(); i += kSampled) sample.push_back(start[i]);
  std::sort(sample.begin(), sample.end());
  std::vector<base::Nanos> out;
  for (std::size_t i = kSliceSamples; i < sample.size(); i += kSliceSamples) {
    if (out.empty() || out.back() < sample[i]) out.push_back(sample[i]);
  }
  return out;
}

// Merges the neighbours [a, b) and [b, c). Runs of different times, as of one step after another,
// hardly overlap: only what does is moved. The choice is made without a branch: which run holds the
// next event is a coin toss, and a wrong guess would cost more than both loads.
void merge(OrderKey* a, OrderKey* b, OrderKey* c, std::vector<OrderKey>& room) {
  a = std::partition_point(a, b, [&](const OrderKey& left) { return !precedes(*b, left); });
  if (a == b) return;
  c = std::partition_point(b, c, [&](const OrderKey& right) { return precedes(right, b[-1]); });
  room.assign(a, b);
  const OrderKey* left = room.data();
  const OrderKey* const left_end = left + room.size();
  const OrderKey* right = b;
  OrderKey* out = a;
  while (left < left_end && right < c) {
    const bool take_right = precedes(*right, *left);
    *out++ = take_right ? *right : *left;
    right += take_right;
    left += !take_right;
  }
  std::copy(left, left_end, out);
}

void merge_runs(std::vector<OrderKey>& keys, std::vector<std::size_t> begins,
                std::vector<OrderKey>& room) {
  OrderKey* const first = keys.data();
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

TrackOrder::TrackOrder(std::span<const base::Nanos> start, std::span<const base::Nanos> duration,
                       std::vector<std::size_t> begins)
    : start_(start), duration_(duration) {
  if (start.empty()) return;
  std::vector<std::size_t> runs = std::move(begins);
  runs.insert(runs.begin(), 0);
  runs.push_back(start.size());
  // One run has nothing to merge: it is copied as it stands.
  const std::vector<base::Nanos> border =
      runs.size() == 2 ? std::vector<base::Nanos>() : borders(start);

  std::vector<std::pair<std::uint32_t, Piece>> cut;  // with their slices
  std::vector<std::uint32_t> rows(border.size() + 1);
  first_piece_.assign(border.size() + 2, 0);
  for (std::size_t run = 0; run + 1 < runs.size(); ++run) {
    auto slice = border.begin();
    const auto stop = start.begin() + static_cast<std::ptrdiff_t>(runs[run + 1]);
    for (auto at = start.begin() + static_cast<std::ptrdiff_t>(runs[run]); at != stop;) {
      slice = std::upper_bound(slice, border.end(), *at);
      const auto end = slice == border.end() ? stop : std::lower_bound(at, stop, *slice);
      const Piece piece{static_cast<std::uint32_t>(at - start.begin()),
                        static_cast<std::uint32_t>(end - start.begin())};
      const auto number = static_cast<std::uint32_t>(slice - border.begin());
      cut.emplace_back(number, piece);
      ++first_piece_[number + 1];
      rows[number] += piece.end - piece.begin;
      at = end;
    }
  }

  pieces_.resize(cut.size());
  first_row_.resize(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    first_piece_[i + 1] += first_piece_[i];
    first_row_[i] = i == 0 ? 0 : first_row_[i - 1] + rows[i - 1];
  }
  std::vector<std::uint32_t> next(first_piece_.begin(), first_piece_.end() - 1);
  for (const auto& [slice, piece] : cut) pieces_[next[slice]++] = piece;
}

void TrackOrder::sort(std::size_t slice, const Sorted& to, Room& room) const {
  const auto pieces = std::span(pieces_).subspan(first_piece_[slice],
                                                 first_piece_[slice + 1] - first_piece_[slice]);
  std::uint32_t row = first_row_[slice];
  if (pieces.size() == 1) {
    for (std::uint32_t i = pieces[0].begin; i < pieces[0].end; ++i, ++row) {
      to.start[row] = start_[i];
      to.duration[row] = duration_[i];
      to.place[i] = row;
    }
    return;
  }
  std::vector<std::size_t> begins;
  begins.reserve(pieces.size() + 1);
  room.keys.clear();
  for (const Piece& piece : pieces) {
    begins.push_back(room.keys.size());
    for (std::uint32_t i = piece.begin; i < piece.end; ++i) {
      room.keys.push_back({start_[i], duration_[i], i});
    }
  }
  begins.push_back(room.keys.size());
  merge_runs(room.keys, std::move(begins), room.left);
  for (const OrderKey& key : room.keys) {
    to.start[row] = key.start;
    to.duration[row] = key.duration;
    to.place[key.at] = row++;
  }
}

}  // namespace stepscope::trace
