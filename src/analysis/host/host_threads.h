// What a host thread was in at a given time: the innermost span, the range that fills a stretch of
// time, the call that waits for the device. Threads are indexed when first asked about.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analysis/arithmetic/intervals.h"
#include "analysis/name_sign.h"
#include "trace/trace.h"

namespace stepscope::analysis {

// Calls of the runtimes and drivers that return only when the device has caught up: synchronising
// calls, frees, copies that are not asynchronous.
bool names_waiting_call(std::string_view call);

// A call that held its thread until the device was done: by name, or because the copy it started
// had ended when it returned.
bool is_waiting_call(const trace::Trace& trace, trace::Row row);
bool awaits_its_copy(const trace::Trace& trace, trace::Row call);  // the second of these

class HostThreads {
 public:
  explicit HostThreads(const trace::Trace& trace);

  // The innermost span of a track that holds this time, or kNoRow.
  trace::Row at(std::uint32_t track, base::Nanos time);
  // The innermost span that fills at least half of the time, or kNoRow: the thread did many things.
  // Steps are not asked for: they hold everything.
  trace::Row doing(std::uint32_t track, Interval time);
  // The call in which the thread waits for the device at this time, or kNoRow.
  trace::Row waiting(std::uint32_t track, base::Nanos time);

 private:
  const std::vector<trace::Row>& spans(std::uint32_t track);
  std::size_t begun(std::uint32_t track, base::Nanos time);

  const trace::Trace* trace_;
  NameSign waits_;
  std::vector<trace::Row> steps_;               // rows that are steps, ascending
  std::vector<std::vector<trace::Row>> spans_;  // by track, in order of start
  std::vector<std::uint8_t> known_;             // by track: spans_ is filled
  std::vector<std::size_t> last_;               // by track: where the last answer was found
};

}  // namespace stepscope::analysis
