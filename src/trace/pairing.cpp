// Joins begin and end events of threads and of asynchronous ids into spans.
#include "trace/pairing.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "trace/trace.h"

namespace stepscope::trace {
namespace {

struct Half {
  EventRow* row;
  Batch* batch;
  std::uint64_t offset() const { return batch->text_offset + row->text_at; }
};

void drop(const Half& end) {
  for (TrackCount& count : end.batch->tracks) {
    if (count.track == end.row->track) --count.rows;
  }
  end.row->phase = RawPhase::kJoined;
}

void close(const Half& begin, const Half& end, base::ImportLog& log) {
  begin.row->duration = end.row->start - begin.row->start;
  if (begin.row->duration > kAbsurdDuration) {
    log.add(base::Note::kAbsurdDuration, begin.offset());
    begin.row->duration = 0;
    begin.row->flags |= kBadDuration;
  }
  drop(end);
}

void leave_open(const Half& begin, base::Nanos window_end) {
  begin.row->duration = std::max<base::Nanos>(0, window_end - begin.row->start);
  begin.row->flags |= kUnclosed;
}

// Begin and end of one thread nest; the file need not be in time order.
void join_thread(std::vector<Half>& halves, base::Nanos window_end, base::ImportLog& log) {
  std::stable_sort(halves.begin(), halves.end(),
                   [](const Half& a, const Half& b) { return a.row->start < b.row->start; });
  std::vector<Half> open;
  for (const Half& half : halves) {
    if (half.row->phase == RawPhase::kBegin) {
      open.push_back(half);
      continue;
    }
    if (open.empty()) {
      log.add(base::Note::kEndWithoutBegin, half.offset());
      drop(half);
      continue;
    }
    close(open.back(), half, log);
    open.back().row->phase = RawPhase::kSpan;
    open.pop_back();
  }
  for (const Half& begin : open) {
    log.add(base::Note::kUnclosedBegin, begin.offset());
    leave_open(begin, window_end);
    begin.row->phase = RawPhase::kSpan;
  }
}

// Asynchronous begins and ends of one key; a begin stays kAsyncBegin, now with its duration.
void join_async(std::vector<Half>& halves, base::Nanos window_end, base::ImportLog& log) {
  std::stable_sort(halves.begin(), halves.end(),
                   [](const Half& a, const Half& b) { return a.row->start < b.row->start; });
  std::vector<Half> open;
  for (const Half& half : halves) {
    if (half.row->phase == RawPhase::kAsyncBegin) {
      open.push_back(half);
    } else if (open.empty()) {
      log.add(base::Note::kAsyncEndWithoutBegin, half.offset());
      drop(half);
    } else {
      close(open.back(), half, log);
      open.pop_back();
    }
  }
  for (const Half& begin : open) {
    log.add(base::Note::kUnclosedAsync, begin.offset());
    leave_open(begin, window_end);
  }
}

}  // namespace

void join_pairs(std::span<Batch> batches, std::span<const ShardMap> maps, base::Nanos window_end,
                base::ImportLog& log) {
  std::map<std::uint32_t, std::vector<Half>> threads;
  std::map<base::StringId, std::vector<Half>> async;
  for (Batch& batch : batches) {
    if (!batch.needs_pairing) continue;
    const ShardMap& map = maps[batch.shard];
    for (EventRow& row : batch.events) {
      if (row.phase == RawPhase::kBegin || row.phase == RawPhase::kEnd) {
        threads[map.tracks[row.track]].push_back({&row, &batch});
      }
    }
    for (const AsyncRow& side : batch.async) {
      EventRow& row = batch.events[side.event];
      if (row.phase == RawPhase::kAsyncInstant) continue;
      async[map.strings[side.key]].push_back({&row, &batch});
    }
  }
  for (auto& [track, halves] : threads) join_thread(halves, window_end, log);
  for (auto& [key, halves] : async) join_async(halves, window_end, log);
}

}  // namespace stepscope::trace
