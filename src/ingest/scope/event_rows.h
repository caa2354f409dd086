// The rows of a recording on their way into a trace. A batch takes many blocks: a quiet process
// writes ten small ones a second for days.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "trace/builder.h"
#include "trace/stage.h"

namespace stepscope::ingest::scope {

// Of a row that gets its length later.
struct RowPlace {
  std::uint32_t batch, event;
};

enum class RowCategory : std::uint8_t { kRange, kLog, kCounter };

struct NewRow {
  base::StringId name = base::kNoString;
  std::uint32_t track = 0;
  base::Nanos start = 0, duration = 0;
  RowCategory category = RowCategory::kRange;
  trace::RawPhase phase = trace::RawPhase::kSpan;
  std::uint8_t flags = 0;
};

class EventRows {
 public:
  EventRows() : shard_(std::make_unique<trace::Shard>(0)) {}

  // Rows from here on belong to the block that stands there.
  void begin_block(std::uint64_t offset);
  // The next row stands behind what has been counted so far.
  void count_record() { ++text_at_; }
  std::uint64_t position() const { return batch_offset_ + text_at_; }

  RowPlace add(const NewRow& row);
  trace::EventRow& at(RowPlace place) {
    return place.batch == batches_.size() ? shard_->events[place.event]
                                          : batches_[place.batch].events[place.event];
  }
  std::uint64_t position(RowPlace place) {
    const std::uint64_t offset =
        place.batch == batches_.size() ? batch_offset_ : batches_[place.batch].text_offset;
    return offset + at(place).text_at;
  }
  // A range ended.
  void set_duration(RowPlace place, base::Nanos duration);
  void add_counter(RowPlace place, std::string_view series, double value) {
    shard_->counters.push_back({place.event, intern(series), value});
  }

  base::StringId intern(std::string_view text) { return shard_->intern(text, text_at_); }
  std::uint32_t track(std::string_view pid, std::string_view tid, std::string_view name);
  void note(base::Note note, std::string_view detail = {}) { shard_->note(note, text_at_, detail); }
  base::Nanos last_end() const { return last_end_; }

  void finish() { end_batch(); }
  void give_to(trace::BuildInput& input);

 private:
  void end_batch();

  struct Category {
    std::uint32_t id = 0;
    trace::Kind kind = trace::Kind::kOther;
    bool known = false;
  };
  const Category& category(RowCategory which) {
    const Category& known = categories_[static_cast<std::size_t>(which)];
    return known.known ? known : new_category(which);
  }
  const Category& new_category(RowCategory which);

  std::unique_ptr<trace::Shard> shard_;
  std::vector<trace::Batch> batches_;
  std::uint64_t batch_offset_ = 0;
  std::uint32_t text_at_ = 0;  // from there
  bool in_batch_ = false;
  base::Nanos last_end_ = std::numeric_limits<base::Nanos>::min();
  Category categories_[3];
};

inline RowPlace EventRows::add(const NewRow& from) {
  const Category& known = category(from.category);
  const auto event = static_cast<std::uint32_t>(shard_->events.size());
  shard_->events.push_back({.start = from.start,
                            .duration = from.duration,
                            .name = from.name,
                            .track = from.track,
                            .category = known.id,
                            .entry = shard_->entries(),
                            .text_at = text_at_,
                            .kind = known.kind,
                            .phase = from.phase,
                            .flags = from.flags});
  shard_->add_entry();
  last_end_ = std::max(last_end_, from.start + from.duration);
  return {static_cast<std::uint32_t>(batches_.size()), event};
}

inline void EventRows::set_duration(RowPlace place, base::Nanos duration) {
  trace::EventRow& row = at(place);
  row.duration = duration;
  const base::Nanos end = row.start + duration;
  last_end_ = std::max(last_end_, end);
  if (place.batch < batches_.size()) {
    trace::Batch& batch = batches_[place.batch];
    batch.last_end = std::max(batch.last_end, end);
  }
}

}  // namespace stepscope::ingest::scope
