// Puts the blocks of a recording together: names, threads and lanes, ranges from their begins and
// ends. A range gets its row when it begins, so that the rows of a thread come in time order, and
// its length when it ends.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "trace/builder.h"
#include "trace/process_record.h"
#include "trace/stage.h"
#include "trace/trace.h"
#include "wire/reader.h"
#include "wire/ticks.h"

namespace stepscope::ingest::scope {

// What a recording's events say beyond their columns, as the JSON other readers find in a file.

// Log lines have arguments; everything else is in the columns.
class LogTexts final : public trace::SourceText {
 public:
  explicit LogTexts(std::shared_ptr<const trace::ProcessRecord> record)
      : record_(std::move(record)) {}
  // The lines of a block follow each other, in the file and in the record.
  void add_block(std::uint64_t offset, std::size_t first_line, std::size_t lines) {
    blocks_.push_back({offset, first_line, lines});
  }
  base::Result<std::string> event(std::uint64_t text_offset) override;

 private:
  struct LogBlock {
    std::uint64_t offset;
    std::size_t first_line, lines;
  };
  std::shared_ptr<const trace::ProcessRecord> record_;
  std::vector<LogBlock> blocks_;  // by offset
};

// The rows of a recording on their way into a trace. A batch takes many blocks: a quiet process
// writes ten small ones a second for days.

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
  // The next row comes after what has been counted so far.
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

class Assembly {
 public:
  void take(const wire::BlockView& block);
  // Nothing more comes: what is still open lasts to the end.
  void finish();

  // The text of model.json; one that cannot be used is noted.
  void add_model(std::string_view text);
  bool has_process() const { return !process_.empty(); }
  base::ImportLog& log() { return log_; }
  // Once, after finish().
  trace::BuildInput build_input(std::string_view file_name);

 private:
  struct OpenRange {
    wire::NameId name;
    RowPlace row;
    base::Nanos start;
  };
  // A thread, or a task of a coroutine: what ranges nest in.
  struct Place {
    std::uint32_t track;
    std::vector<OpenRange> open;
  };
  struct Thread {
    std::string name = "thread";
    std::string system_id = "0";
    std::uint64_t lane = 0;
    Place* place = nullptr;  // of the lane; null until something is recorded there
  };

  void take_names(const wire::BlockView& block);
  void take_thread(const wire::BlockView& block);
  void take_events(const wire::BlockView& block);
  void take_logs(const wire::BlockView& block);
  void unreadable(const wire::BlockView& block);

  void record(wire::ThreadId id, Thread& thread, const wire::Record& record, std::uint64_t value);
  void begin_range(Place& place, wire::NameId name, base::Nanos now);
  void end_range(Place& place, wire::NameId name, base::Nanos now);
  void note_thread_of_step(const Thread& thread, std::uint64_t mark);
  void mark_step(std::uint64_t mark, std::int64_t number, base::Nanos now);
  void step(std::int64_t number, base::Nanos now);
  void lose_marks();
  void counter(Place& place, wire::NameId name, double value, base::Nanos now);

  Place& place_of(wire::ThreadId thread, std::uint64_t lane);
  base::StringId name_id(wire::NameId name);

  EventRows rows_;
  std::shared_ptr<trace::ProcessRecord> about_ = std::make_shared<trace::ProcessRecord>();
  std::shared_ptr<LogTexts> texts_ = std::make_shared<LogTexts>(about_);
  base::ImportLog log_;
  wire::Fields process_;
  std::string pid_ = "0";
  wire::TickClock clock_;
  base::Nanos base_ns_ = 0;
  std::optional<wire::Anchor> first_anchor_, last_anchor_;
  std::vector<std::string> names_;        // by number; empty where its block was lost
  std::vector<base::StringId> name_ids_;  // of the rows; kNoString: not used yet
  std::map<wire::ThreadId, Thread> threads_;
  std::map<std::pair<wire::ThreadId, std::uint64_t>, Place> places_;  // by thread, or 0 and lane
  std::optional<base::Nanos> last_step_;     // where the step under way began
  std::optional<std::int64_t> last_number_;  // of the last step that ended
  bool marks_lost_ = false;                  // since then
  std::optional<std::uint32_t> step_track_;
};

}  // namespace stepscope::ingest::scope
