// Puts the blocks of a recording together: names, threads and lanes, ranges from their ends.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "ingest/scope/log_texts.h"
#include "trace/builder.h"
#include "trace/stage.h"
#include "wire/reader.h"
#include "wire/ticks.h"

namespace stepscope::ingest::scope {

class Assembly {
 public:
  Assembly();

  void take(const wire::BlockView& block);
  // Nothing more comes: what is still open lasts to the end.
  void finish();

  bool has_process() const { return !process_.empty(); }
  base::ImportLog& log() { return log_; }
  // Once, after finish().
  trace::BuildInput build_input();

 private:
  struct OpenRange {
    wire::NameId name;
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
  };

  void take_names(const wire::BlockView& block);
  void take_thread(const wire::BlockView& block);
  void take_events(const wire::BlockView& block);
  void take_logs(const wire::BlockView& block);
  void unreadable(const wire::BlockView& block);

  void record(wire::ThreadId thread, const wire::Record& record, std::uint64_t value);
  void end_range(Place& place, wire::NameId name, base::Nanos now);
  void step(Place& place, std::int64_t number, base::Nanos now);
  void counter(Place& place, wire::NameId name, double value, base::Nanos now);

  Place& place_of(wire::ThreadId thread, std::uint64_t lane);
  std::string_view name_of(wire::NameId name) const;
  base::Nanos local(std::uint64_t ticks) const { return clock_.wall_ns(ticks) - base_ns_; }
  trace::EventRow& add_row(std::string_view name, std::uint32_t category, std::uint32_t track,
                           base::Nanos start, base::Nanos duration, trace::RawPhase phase);
  void begin_batch(std::uint64_t offset);
  void end_batch();

  std::unique_ptr<trace::Lane> lane_;
  std::vector<trace::Batch> batches_;
  std::uint32_t in_batch_ = 0;  // rows and records so far: where the next one stands
  std::shared_ptr<LogTexts> texts_ = std::make_shared<LogTexts>();
  base::ImportLog log_;
  wire::Fields process_;
  std::string pid_ = "0";
  wire::TickClock clock_;
  base::Nanos base_ns_ = 0;
  std::optional<wire::Anchor> first_anchor_;
  std::vector<std::string> names_;  // by number; empty where its block was lost
  std::map<wire::ThreadId, Thread> threads_;
  std::map<std::pair<wire::ThreadId, std::uint64_t>, Place> places_;  // by thread, or 0 and lane
  std::optional<base::Nanos> last_step_;
  std::optional<wire::Cost> cost_;
};

}  // namespace stepscope::ingest::scope
