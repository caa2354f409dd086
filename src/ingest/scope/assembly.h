// Puts the blocks of a recording together: names, threads and lanes, ranges from their begins and
// ends. A range gets its row when it begins, so that the rows of a thread come in time order, and
// its length when it ends.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "ingest/scope/event_rows.h"
#include "ingest/scope/log_texts.h"
#include "trace/builder.h"
#include "trace/process_record.h"
#include "wire/reader.h"
#include "wire/ticks.h"

namespace stepscope::ingest::scope {

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
