// Builds a trace from the batches of one window: order, columns, side tables, links.
#include "trace/builder.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>

#include "base/parallel.h"
#include "trace/ordering.h"

namespace stepscope::trace {
namespace {

// Into how many turns work is cut for each thread.
constexpr std::size_t kTurnsOfAThread = 8;
std::size_t turns_for(unsigned threads) { return threads <= 1 ? 1 : threads * kTurnsOfAThread; }

// The columns of a trace lie in one block, unless it is large.
constexpr std::size_t kUsualRowBytes = 64;
constexpr std::size_t kLeastBlockBytes = std::size_t{64} << 10;
constexpr std::size_t kMostBlockBytes = std::size_t{64} << 20;

Phase phase_of(RawPhase raw) {
  switch (raw) {
    case RawPhase::kCounter:
      return Phase::kCounter;
    case RawPhase::kAsyncBegin:
      return Phase::kAsyncSpan;
    case RawPhase::kAsyncInstant:
      return Phase::kAsyncInstant;
    case RawPhase::kInstant:
      return Phase::kInstant;
    default:
      return Phase::kSpan;
  }
}

// Where the rows of a batch go: one cursor per track of its shard, moved on by every row.
std::vector<std::uint32_t> cursors(const Batch& batch, const ShardMap& map) {
  std::vector<std::uint32_t> next(map.tracks.size());
  for (const TrackCount& count : batch.tracks) next[count.track] = count.first;
  return next;
}

// The middle of the starts, or nothing when all of them are close together anyway.
std::optional<base::Nanos> middle_of(std::vector<base::Nanos> starts) {
  const auto [low, high] = std::minmax_element(starts.begin(), starts.end());
  if (starts.empty() || *high - *low <= kFarAway) return std::nullopt;
  const auto middle = starts.begin() + static_cast<std::ptrdiff_t>(starts.size() / 2);
  std::nth_element(starts.begin(), middle, starts.end());
  return *middle;
}

bool is_far(base::Nanos time, base::Nanos middle) {
  return time - middle > kFarAway || middle - time > kFarAway;
}

// Of events that came with no base, as before 2024: plausible between 2001 and 2096.
bool looks_like_unix_time(std::int64_t ns) {
  return ns > 1'000'000'000'000'000'000 && ns < 4'000'000'000'000'000'000;
}

// What ends last, events at implausible times included.
base::Nanos latest_end(std::span<const Batch> batches) {
  base::Nanos end = std::numeric_limits<base::Nanos>::min();
  for (const Batch& batch : batches) end = std::max(end, batch.last_end);
  return end;
}

// When the last event ends, but for those at implausible times.
base::Nanos last_end(std::span<const Batch> batches) {
  base::Nanos first = std::numeric_limits<base::Nanos>::max();
  base::Nanos last = std::numeric_limits<base::Nanos>::min();
  for (const Batch& batch : batches) {
    first = std::min(first, batch.first_start);
    last = std::max(last, batch.last_start);
  }
  if (last < first || last - first <= kFarAway) return latest_end(batches);
  std::vector<base::Nanos> starts;
  for (const Batch& batch : batches) {
    for (const EventRow& row : batch.events) starts.push_back(row.start);
  }
  const std::optional<base::Nanos> middle = middle_of(starts);
  base::Nanos end = std::numeric_limits<base::Nanos>::min();
  for (const Batch& batch : batches) {
    for (const EventRow& row : batch.events) {
      if (!is_far(row.start, *middle)) end = std::max(end, row.start + row.duration);
    }
  }
  return end;
}

}  // namespace

base::Result<Trace> TraceBuilder::build() {
  SCOPE_TRY(count_entries());
  const std::vector<FirstNamed> named =
      in_.has_discarded ? first_named(in_.shards, in_.batches) : std::vector<FirstNamed>{};
  maps_.resize(in_.shards.size());
  out_.tracks_ = merge_tracks(in_.shards, named, in_.decode, maps_);
  out_.header_ = std::move(in_.header);
  out_.source_ = std::move(in_.source);
  out_.log_ = std::move(in_.log);
  if (out_.header_.base_time_ns) out_.clock_ = {*out_.header_.base_time_ns, 0, true};

  // Names are one piece of work, and nothing but the joining of pairs needs them before the rows
  // are in order.
  base::Status named_all = base::Done{};
  const auto name = [&] { named_all = merge_lanes(named); };
  const bool has_pairs = std::any_of(in_.batches.begin(), in_.batches.end(),
                                     [](const Batch& batch) { return batch.needs_pairing; });
  if (has_pairs) {
    name();
    SCOPE_TRY(named_all);
    pair();
  }
  for (const Batch& batch : in_.batches) out_.log_.merge(batch.log);
  join_spellings();
  lay_out_tracks();
  order(has_pairs ? [] {} : std::function<void()>(name));
  SCOPE_TRY(named_all);
  fill_columns();
  fill_tables();
  latest_end_ = latest_end(in_.batches);
  in_.batches.clear();
  mark_times();
  label_tracks();
  link();
  return std::move(out_);
}

// What the shards found out becomes the trace's.
base::Status TraceBuilder::merge_lanes(std::span<const FirstNamed> named) {
  SCOPE_TRY(Names names, merge_names(in_.shards, named, in_.decode, in_.normalize, maps_));
  for (const auto& shard : in_.shards) ranges_.include(shard->ranges());
  in_.shards.clear();
  out_.strings_ = std::move(names.strings);
  out_.categories_ = std::move(names.categories);
  out_.signatures_ = std::move(names.signatures);
  return base::Done{};
}

base::Status TraceBuilder::count_entries() {
  std::uint64_t entries = 0;
  for (const Batch& batch : in_.batches) {
    first_ordinal_.push_back(static_cast<std::uint32_t>(entries));
    out_.text_blocks_.push_back({static_cast<std::uint32_t>(entries), batch.text_offset});
    entries += batch.entries;
  }
  if (entries >= kNoRow) {
    return base::fail(base::Code::kLimit, "more than 4 billion events in one file");
  }
  out_.entries_ = entries;
  return base::Done{};
}

void TraceBuilder::pair() {
  join_pairs(in_.batches, maps_, last_end(in_.batches), out_.log_);
  for (Batch& batch : in_.batches) {
    batch.last_end = std::numeric_limits<base::Nanos>::min();
    for (const EventRow& row : batch.events) {
      if (row.phase == RawPhase::kJoined) continue;
      batch.last_end = std::max(batch.last_end, row.start + row.duration);
    }
  }
}

// One track may be spelled in several ways ("1" and "\u0031"), which a shard tells apart. In the
// end its rows stand in the order of the file, whoever read them.
void TraceBuilder::join_spellings() {
  const bool any = std::ranges::any_of(maps_, [](const ShardMap& map) {
    std::vector<std::uint32_t> tracks = map.tracks;
    std::ranges::sort(tracks);
    return std::ranges::adjacent_find(tracks) != tracks.end();
  });
  if (!any) return;
  base::parallel_for(in_.batches.size(), in_.threads, [&](std::size_t i) {
    Batch& batch = in_.batches[i];
    const std::vector<std::uint32_t>& track_of = maps_[batch.shard].tracks;
    std::map<std::uint32_t, TrackCount> joined;  // by track of the trace
    for (const TrackCount& count : batch.tracks) {
      const auto [first, is_new] = joined.try_emplace(track_of[count.track], count);
      if (!is_new) first->second.rows += count.rows;
    }
    if (joined.size() == batch.tracks.size()) return;
    for (EventRow& row : batch.events) {
      if (row.phase != RawPhase::kJoined) row.track = joined.at(track_of[row.track]).track;
    }
    batch.tracks.clear();
    for (const auto& [track, count] : joined) batch.tracks.push_back(count);
  });
}

void TraceBuilder::lay_out_tracks() {
  std::vector<std::uint32_t> rows(out_.tracks_.size());
  for (const Batch& batch : in_.batches) {
    for (const TrackCount& count : batch.tracks) {
      rows[maps_[batch.shard].tracks[count.track]] += count.rows;
    }
  }
  Row next = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    out_.tracks_[i].begin = next;
    next += rows[i];
    out_.tracks_[i].end = next;
  }
  std::vector<Row> free;
  free.reserve(out_.tracks_.size());
  for (const Track& track : out_.tracks_) free.push_back(track.begin);
  for (Batch& batch : in_.batches) {
    for (TrackCount& count : batch.tracks) {
      Row& at = free[maps_[batch.shard].tracks[count.track]];
      count.first = at;
      at += count.rows;
    }
  }
  memory_ = base::Slab(std::clamp(next * kUsualRowBytes, kLeastBlockBytes, kMostBlockBytes));
  out_.start_ = base::Column<base::Nanos>(next, memory_);
  out_.duration_ = base::Column<base::Nanos>(next, memory_);
  by_track_ = memory_.take(2 * next * sizeof(base::Nanos));
  place_ = base::Column<std::uint32_t>(next, memory_);
  fetch_pages();
}

// Before several threads write to what was taken last.
void TraceBuilder::fetch_pages() {
  if (in_.threads <= 1) return;
  const std::vector<std::byte*> pages = memory_.new_pages();
  base::parallel_for(pages.size(), in_.threads, [&](std::size_t i) { base::fetch_page(pages[i]); });
}

// Puts the times of a batch where its rows are, track by track. Where a run begins is found on the
// way, but for the first row of each track: the one before it is another batch's.
void TraceBuilder::put_by_track(std::size_t number, std::span<base::Nanos> start,
                                std::span<base::Nanos> duration,
                                std::vector<RunBegin>& begins) const {
  const Batch& batch = in_.batches[number];
  const ShardMap& map = maps_[batch.shard];
  const std::vector<std::uint32_t> first = cursors(batch, map);
  std::vector<std::uint32_t> next = first;
  for (const EventRow& row : batch.events) {
    if (row.phase == RawPhase::kJoined) continue;
    const std::uint32_t at = next[row.track]++;
    start[at] = row.start;
    duration[at] = row.duration;
    if (at != first[row.track] && begins_run(start, duration, at)) {
      begins.push_back({map.tracks[row.track], at});
    }
  }
}

// What the batches found, and their first rows, by track and counted from its first row.
std::vector<std::vector<std::size_t>> TraceBuilder::runs(
    std::span<const base::Nanos> start, std::span<const base::Nanos> duration,
    std::span<const std::vector<RunBegin>> found) const {
  std::vector<std::vector<std::size_t>> begins(out_.tracks_.size());
  const auto add = [&](std::uint32_t track, std::uint32_t row) {
    begins[track].push_back(row - out_.tracks_[track].begin);
  };
  for (std::size_t i = 0; i < in_.batches.size(); ++i) {
    for (const TrackCount& count : in_.batches[i].tracks) {
      const std::uint32_t track = maps_[in_.batches[i].shard].tracks[count.track];
      const bool follows = count.rows != 0 && count.first != out_.tracks_[track].begin;
      if (follows && begins_run(start, duration, count.first)) add(track, count.first);
    }
    for (const RunBegin& begin : found[i]) add(begin.track, begin.row);
  }
  return begins;
}

// `beside` is one piece of other work.
void TraceBuilder::order(const std::function<void()>& beside) {
  // Track by track, each in the order of the file.
  const std::size_t bytes = out_.size() * sizeof(base::Nanos);
  base::Column<base::Nanos> start(out_.size(), by_track_);
  base::Column<base::Nanos> duration(out_.size(), by_track_.part(bytes, bytes));
  std::vector<std::vector<RunBegin>> found(in_.batches.size());
  base::parallel_stretches(1 + in_.batches.size(), in_.threads, [&](std::size_t i, std::size_t) {
    if (i == 0) return beside();
    put_by_track(i - 1, start.span(), duration.span(), found[i - 1]);
  });
  std::vector<std::vector<std::size_t>> begins = runs(start.span(), duration.span(), found);
  std::vector<TrackOrder> orders(out_.tracks_.size());
  base::parallel_for(orders.size(), in_.threads, [&](std::size_t i) {
    const Track& track = out_.tracks_[i];
    const std::size_t size = track.end - track.begin;
    orders[i] = {start.span().subspan(track.begin, size),
                 duration.span().subspan(track.begin, size), std::move(begins[i])};
  });
  std::vector<std::pair<std::uint32_t, std::uint32_t>> slices;  // track, its slice
  for (std::uint32_t track = 0; track < orders.size(); ++track) {
    for (std::uint32_t i = 0; i < orders[track].slices(); ++i) slices.emplace_back(track, i);
  }
  // Some slices at a time; enough times that all threads end together.
  const std::size_t turns = std::min(slices.size(), turns_for(in_.threads));
  std::vector<TrackOrder::Room> rooms(std::max(1U, in_.threads));
  base::parallel_stretches(turns, in_.threads, [&](std::size_t turn, std::size_t thread) {
    for (std::size_t i = turn * slices.size() / turns; i < (turn + 1) * slices.size() / turns;
         ++i) {
      const Track& track = out_.tracks_[slices[i].first];
      const std::size_t size = track.end - track.begin;
      orders[slices[i].first].sort(slices[i].second,
                                   {out_.start_.span().subspan(track.begin, size),
                                    out_.duration_.span().subspan(track.begin, size),
                                    place_.span().subspan(track.begin, size)},
                                   rooms[thread]);
    }
  });
}

void TraceBuilder::fill_columns() {
  const std::size_t rows = out_.size();
  // The times by track are not needed any more, and take as much as four of the columns.
  static_assert(sizeof(base::StringId) == 4 && sizeof(base::Nanos) == 8);
  const auto in_their_place = [&](std::size_t i) {
    return by_track_.part(i * rows * sizeof(std::uint32_t), rows * sizeof(std::uint32_t));
  };
  out_.name_ = base::Column<base::StringId>(rows, in_their_place(0));
  out_.track_ = base::Column<std::uint32_t>(rows, in_their_place(1));
  out_.ordinal_ = base::Column<std::uint32_t>(rows, in_their_place(2));
  out_.text_at_ = base::Column<std::uint32_t>(rows, in_their_place(3));
  by_track_ = {};
  out_.category_ = base::Column<std::uint16_t>(rows, memory_);
  out_.kind_ = base::Column<Kind>(rows, memory_);
  out_.phase_ = base::Column<Phase>(rows, memory_);
  out_.flags_ = base::Column<std::uint8_t>(rows, memory_);
  size_tables();
  fetch_pages();
  base::parallel_stretches(in_.batches.size(), in_.threads, [&](std::size_t i, std::size_t) {
    fill_events(in_.batches[i], first_ordinal_[i]);
  });
}

void TraceBuilder::fill_events(Batch& batch, std::uint32_t first_ordinal) {
  const ShardMap& map = maps_[batch.shard];
  std::vector<std::uint32_t> next = cursors(batch, map);
  std::vector<Row> row_of(batch.events.size(), kNoRow);
  std::vector<Row> track_begin(map.tracks.size());
  for (const TrackCount& count : batch.tracks) {
    track_begin[count.track] = out_.tracks_[map.tracks[count.track]].begin;
  }
  for (std::size_t i = 0; i < batch.events.size(); ++i) {
    const EventRow& from = batch.events[i];
    if (from.phase == RawPhase::kJoined) continue;
    const Row row = track_begin[from.track] + place_[next[from.track]++];
    row_of[i] = row;
    out_.name_[row] = from.name == base::kNoString ? from.name : map.strings[from.name];
    out_.category_[row] = static_cast<std::uint16_t>(map.categories[from.category]);
    out_.kind_[row] = from.kind;
    out_.phase_[row] = phase_of(from.phase);
    out_.flags_[row] = from.flags;
    out_.track_[row] = map.tracks[from.track];
    out_.ordinal_[row] = first_ordinal + from.entry;
    out_.text_at_[row] = from.text_at;
  }
  batch.events = {};
  batch.event_pages = {};

  // From here on side rows know their event by its row in the trace.
  const bool alone = in_.threads <= 1;
  const auto settle = [&](auto rows, base::RowSet& set) {
    base::RowSet::Shared shared(set);
    for (auto& side : rows) {
      side.event = row_of[side.event];
      if (side.event == kNoRow) continue;
      alone ? set.add(side.event) : shared.add(side.event);
    }
  };
  settle(batch.ops, out_.ops_.rows);
  settle(batch.flops, out_.flops_.rows);
  settle(batch.stacks, out_.stacks_.rows);
  settle(batch.modules, out_.python_.rows);
  settle(batch.launches, out_.launches_.rows);
  settle(batch.python, python_.rows);
  settle(batch.device, out_.device_.rows);
  settle(batch.kernels, out_.kernels_.rows);
  settle(batch.copies, out_.copies_.rows);
  settle(batch.syncs, out_.syncs_.rows);
  settle(batch.memory, out_.memory_.rows);
  settle(batch.collectives, out_.collectives_.rows);
  for (CounterRow& side : batch.counters) side.event = row_of[side.event];
}

void TraceBuilder::mark_times() {
  const auto start = out_.start();
  const auto duration = out_.duration();
  // Rows of a track are in the order of their starts.
  base::Nanos low = std::numeric_limits<base::Nanos>::max();
  base::Nanos high = std::numeric_limits<base::Nanos>::min();
  for (const Track& track : out_.tracks_) {
    if (track.begin == track.end) continue;
    low = std::min(low, start[track.begin]);
    high = std::max(high, start[track.end - 1]);
  }
  if (low > high) return;
  // The median is worth its cost only when some time can be a day away from it.
  const bool any_far = high - low > kFarAway;
  if (any_far) {
    const base::Nanos middle = *middle_of({start.begin(), start.end()});
    for (Row row = 0; row < start.size(); ++row) {
      if (!is_far(start[row], middle)) continue;
      out_.flags_[row] |= kFarTime;
      out_.log_.add(base::Note::kFarFromTheRest, out_.text_offset(row), out_.name_text(row));
    }
  }
  Span span{low, 0};
  if (any_far) {
    span = {std::numeric_limits<base::Nanos>::max(), std::numeric_limits<base::Nanos>::min()};
    for (Row row = 0; row < start.size(); ++row) {
      if ((out_.flags_[row] & kFarTime) != 0) continue;
      span.start = std::min(span.start, start[row]);
      span.end = std::max(span.end, start[row] + duration[row]);
    }
  } else {
    span.end = latest_end_;
  }
  if (span.end < span.start) return;
  out_.span_ = span;
  if (looks_like_unix_time(span.start)) out_.clock_.base_known = true;
}

}  // namespace stepscope::trace
