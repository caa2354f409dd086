// Links device work to launches, launches to operators, and backward operators to forward ones.
#include "trace/links.h"

#include <algorithm>
#include <atomic>
#include <unordered_map>
#include <vector>

#include "base/parallel.h"
#include "trace/key_index.h"

namespace stepscope::trace {
namespace {

constexpr std::size_t kPiecesOfAThread = 4;

// Of rows that share an id, those that begin before a time. Mostly there is one or a few; where
// many share one, as in damaged files, they are sorted once instead of looked through each time.
class ByStart {
 public:
  explicit ByStart(std::span<const base::Nanos> starts) : starts_(starts) {}

  // The latest that begins at `time` or before; of several, the innermost. kNoRow if none does.
  Row latest(std::int64_t id, std::span<const std::uint32_t> rows, base::Nanos time) {
    if (rows.size() > kFew) {
      const std::vector<Row>& sorted = sorted_rows(id, rows);
      const auto after = std::upper_bound(sorted.begin(), sorted.end(), time,
                                          [&](base::Nanos t, Row row) { return t < starts_[row]; });
      return after == sorted.begin() ? kNoRow : after[-1];
    }
    Row best = kNoRow;
    for (const Row row : rows) {
      if (starts_[row] <= time && (best == kNoRow || starts_[row] >= starts_[best])) best = row;
    }
    return best;
  }

  // The call that most plausibly launched something at `time`. Clocks differ: if none begins
  // before, it is the earliest.
  Row likeliest(std::int64_t id, std::span<const std::uint32_t> rows, base::Nanos time) {
    const Row before = latest(id, rows, time);
    if (before != kNoRow) return before;
    if (rows.size() > kFew) return sorted_rows(id, rows).front();
    return *std::min_element(rows.begin(), rows.end(),
                             [&](Row a, Row b) { return starts_[a] < starts_[b]; });
  }

 private:
  static constexpr std::size_t kFew = 32;

  const std::vector<Row>& sorted_rows(std::int64_t id, std::span<const std::uint32_t> rows) {
    std::vector<Row>& sorted = sorted_[id];
    if (sorted.empty()) {
      sorted.assign(rows.begin(), rows.end());
      std::stable_sort(sorted.begin(), sorted.end(),
                       [&](Row a, Row b) { return starts_[a] < starts_[b]; });
    }
    return sorted;
  }

  std::span<const base::Nanos> starts_;
  std::unordered_map<std::int64_t, std::vector<Row>> sorted_;
};

// Finds operators by track and start. Arrows are written beside the events they touch, so the next
// one asked for is mostly near the last: the search starts there and doubles its stride.
class OpFinder {
 public:
  explicit OpFinder(const LinkInput& in) : in_(in) {
    last_.reserve(in.tracks.size());
    for (const Track& track : in.tracks) last_.push_back(track.begin);
  }

  // The innermost operator that starts exactly at `time` on a track, or kNoRow.
  Row at(std::uint32_t track, base::Nanos time) {
    const Track& t = in_.tracks[track];
    if (t.begin == t.end) return kNoRow;
    Row row = behind(t, last_[track], time);
    last_[track] = row == t.begin ? row : row - 1;
    while (row != t.begin && in_.start[row - 1] == time) {
      --row;
      if (in_.kind[row] == Kind::kCpuOp) return row;
    }
    return kNoRow;
  }

 private:
  // The first row of the track that starts after `time`.
  Row behind(const Track& track, Row hint, base::Nanos time) const {
    std::uint64_t low = track.begin;
    std::uint64_t high = track.end;
    std::uint64_t stride = 8;
    if (in_.start[hint] <= time) {
      low = hint;
      while (low + stride < high && in_.start[low + stride] <= time) {
        low += stride;
        stride *= 2;
      }
      high = std::min(high, low + stride);
    } else {
      high = hint;
      while (high >= low + stride && in_.start[high - stride] > time) {
        high -= stride;
        stride *= 2;
      }
      low = high >= low + stride ? high - stride : low;
    }
    const auto at = std::upper_bound(in_.start.begin() + static_cast<std::ptrdiff_t>(low),
                                     in_.start.begin() + static_cast<std::ptrdiff_t>(high), time);
    return static_cast<Row>(at - in_.start.begin());
  }

  const LinkInput& in_;
  std::vector<Row> last_;  // by track
};

// The operator that holds a call, or else the innermost annotation that does.
Row operator_around(const LinkInput& in, Row call) {
  Row annotation = kNoRow;
  Row at = in.parent[call];
  while (at != kNoRow && in.kind[at] != Kind::kCpuOp) {
    if (annotation == kNoRow && in.kind[at] == Kind::kAnnotation) annotation = at;
    at = in.parent[at];
  }
  return at != kNoRow ? at : annotation;
}

}  // namespace

LinkCounts link_launches(const LinkInput& in, DeviceTable& device, LaunchTable& launches) {
  LinkCounts counts;
  const KeyIndex by_correlation = KeyIndex::build([&](auto add) {
    launches.rows.for_each([&](Row row, std::uint32_t entry) {
      if (says_anything(launches.correlation[entry])) add(launches.correlation[entry], row);
    });
  });
  ByStart by_start(in.start);

  device.launch = base::Column<Row>(device.rows.size());
  launches.first = base::Column<std::uint32_t>(launches.rows.size() + 1);
  device.rows.for_each([&](Row row, std::uint32_t entry) {
    device.launch[entry] = kNoRow;
    const std::int64_t correlation = device.correlation[entry];
    const auto found = says_anything(correlation) ? by_correlation.find(correlation)
                                                  : std::span<const std::uint32_t>{};
    const bool is_work = is_device_work(in.kind[row]);
    if (found.empty()) {
      if (is_work && counts.without_launch++ == 0) counts.first_without = row;
      return;
    }
    if (found.size() > 1 && counts.shared++ == 0) counts.first_shared = row;
    const Row call =
        found.size() == 1 ? found.front() : by_start.likeliest(correlation, found, in.start[row]);
    device.launch[entry] = call;
    if (!is_work) return;
    if (in.start[row] < in.start[call] && counts.before++ == 0) counts.first_before = row;
    ++launches.first[launches.rows.rank(call) + 1];
  });

  for (std::size_t i = 1; i < launches.first.size(); ++i)
    launches.first[i] += launches.first[i - 1];
  launches.work = base::Column<Row>(launches.first[launches.rows.size()]);
  std::vector<std::uint32_t> next(launches.first.span().begin(), launches.first.span().end());
  device.rows.for_each([&](Row row, std::uint32_t entry) {
    const Row call = device.launch[entry];
    if (call == kNoRow || !is_device_work(in.kind[row])) return;
    launches.work[next[launches.rows.rank(call)]++] = row;
  });
  return counts;
}

void link_ops(const LinkInput& in, const OpTable& ops, LaunchTable& launches, unsigned threads) {
  launches.op = base::Column<Row>(launches.rows.size());
  std::atomic<bool> any_left = false;
  const std::size_t words = launches.rows.words();
  const std::size_t pieces = threads <= 1 ? 1 : threads * kPiecesOfAThread;
  base::parallel_for(pieces, threads, [&](std::size_t piece) {
    bool left = false;
    launches.rows.for_each(
        piece * words / pieces, (piece + 1) * words / pieces, [&](Row row, std::uint32_t entry) {
          launches.op[entry] = operator_around(in, row);
          left |= launches.op[entry] == kNoRow && says_anything(launches.external_id[entry]);
        });
    if (left) any_left = true;
  });
  if (!any_left) return;
  const KeyIndex by_external_id = KeyIndex::build([&](auto add) {
    ops.rows.for_each([&](Row row, std::uint32_t entry) {
      if (says_anything(ops.external_id[entry])) add(ops.external_id[entry], row);
    });
  });
  ByStart by_start(in.start);
  launches.rows.for_each([&](Row row, std::uint32_t entry) {
    if (launches.op[entry] != kNoRow || !says_anything(launches.external_id[entry])) return;
    const std::int64_t id = launches.external_id[entry];
    launches.op[entry] = by_start.latest(id, by_external_id.find(id), in.start[row]);
  });
}

void link_backward(const LinkInput& in, const OpTable& ops, const FlowTable& flows,
                   BackwardTable& backward) {
  base::Column<Row> forward_of(in.start.size());
  std::ranges::fill(forward_of.span(), kNoRow);
  const base::StringId now = in.strings->find("fwdbwd");
  const base::StringId once = in.strings->find("forward_backward");
  const auto is_ours = [&](std::size_t i) {
    const base::StringId category = flows.category[i];
    return category != base::kNoString && (category == now || category == once);
  };
  const KeyIndex start_of = KeyIndex::build([&](auto add) {
    for (std::uint32_t i = 0; i < flows.size(); ++i) {
      if (is_ours(i) && flows.phase[i] == 's') add(static_cast<std::int64_t>(flows.id[i]), i);
    }
  });
  OpFinder forward_ops(in);
  OpFinder backward_ops(in);
  ByStart begun(flows.time.span());
  for (std::size_t i = 0; i < flows.size(); ++i) {
    if (!is_ours(i) || flows.phase[i] != 'f') continue;
    const auto id = static_cast<std::int64_t>(flows.id[i]);
    const auto found = start_of.find(id);
    if (found.empty()) continue;
    // An id may be used again, in another step.
    const std::uint32_t from =
        found.size() == 1 ? found.front() : begun.likeliest(id, found, flows.time[i]);
    const Row forward = forward_ops.at(flows.track[from], flows.time[from]);
    const Row back = backward_ops.at(flows.track[i], flows.time[i]);
    if (forward != kNoRow && back != kNoRow && forward != back) forward_of[back] = forward;
  }

  // Operators without an arrow: autograd gives the backward operator its forward one's number.
  const auto each_numbered = [&](auto visit) {
    ops.rows.for_each([&](Row row, std::uint32_t entry) {
      const std::int64_t sequence = ops.sequence[entry];
      if (sequence < 0 || in.kind[row] != Kind::kCpuOp) return;
      visit(sequence, row, ops.forward_thread[entry] > 0);
    });
  };
  std::vector<std::pair<Row, std::int64_t>> unlinked;
  each_numbered([&](std::int64_t sequence, Row row, bool is_backward) {
    if (is_backward && forward_of[row] == kNoRow) unlinked.emplace_back(row, sequence);
  });
  if (!unlinked.empty()) {
    const KeyIndex by_sequence = KeyIndex::build([&](auto add) {
      each_numbered([&](std::int64_t sequence, Row row, bool is_backward) {
        if (!is_backward) add(sequence, row);
      });
    });
    ByStart by_start(in.start);
    for (const auto& [row, sequence] : unlinked) {
      const Row best = by_start.latest(sequence, by_sequence.find(sequence), in.start[row] - 1);
      if (best != kNoRow) forward_of[row] = best;
    }
  }

  for (Row row = 0; row < forward_of.size(); ++row) {
    if (forward_of[row] != kNoRow) backward.rows.add(row);
  }
  backward.rows.seal();
  backward.forward = base::Column<Row>(backward.rows.size());
  backward.rows.for_each(
      [&](Row row, std::uint32_t entry) { backward.forward[entry] = forward_of[row]; });
}

}  // namespace stepscope::trace
