// Finds what a host thread was in at a given time.
#include "analysis/host/host_threads.h"

#include <algorithm>

namespace stepscope::analysis {

using base::Nanos;
using trace::Row;

bool names_waiting_call(std::string_view call) {
  const auto holds = [&](std::string_view part) {
    return call.find(part) != std::string_view::npos;
  };
  if (holds("Synchronize") || holds("QueueFinish")) return true;
  if (call.starts_with("urEventWait") || call.starts_with("piEventsWait")) return true;
  if (holds("Async")) return false;
  return holds("Memcpy") || call == "cudaFree" || call == "cudaFreeHost" || call == "hipFree" ||
         call == "hipHostFree" || call.starts_with("cuMemFree");
}

bool awaits_its_copy(const trace::Trace& trace, Row row) {
  const std::uint32_t entry = trace.launches().rows.find(row);
  if (entry == base::RowSet::kNone) return false;
  // A kernel may be over before its call returns without a wait; a copy's memory is why one
  // waits.
  return std::ranges::any_of(trace.launches().work_of(entry), [&](Row piece) {
    return trace.kind()[piece] == trace::Kind::kMemcpy && trace.end(piece) <= trace.end(row);
  });
}

bool is_waiting_call(const trace::Trace& trace, Row row) {
  return is_api_call(trace.kind()[row]) &&
         (names_waiting_call(trace.name_text(row)) || awaits_its_copy(trace, row));
}

HostThreads::HostThreads(const trace::Trace& trace)
    : trace_(&trace),
      waits_(trace, names_waiting_call),
      spans_(trace.tracks().size()),
      known_(trace.tracks().size()),
      last_(trace.tracks().size()) {
  for (const trace::Step& step : trace.steps().list) {
    if (step.row != trace::kNoRow) steps_.push_back(step.row);
  }
  std::ranges::sort(steps_);
}

const std::vector<Row>& HostThreads::spans(std::uint32_t track) {
  std::vector<Row>& found = spans_[track];
  if (known_[track] != 0) return found;
  known_[track] = 1;
  const trace::Track& rows = trace_->tracks()[track];
  found.reserve(rows.end - rows.begin);
  for (Row row = rows.begin; row < rows.end; ++row) {
    if (trace_->phase()[row] == trace::Phase::kSpan &&
        trace_->kind()[row] != trace::Kind::kOverhead &&
        trace_->kind()[row] != trace::Kind::kProfiler) {
      found.push_back(row);
    }
  }
  return found;
}

// How many spans of the track have begun. Most questions are about a moment soon after the last
// one: the search widens from there.
std::size_t HostThreads::begun(std::uint32_t track, Nanos time) {
  const std::vector<Row>& rows = spans(track);
  const auto begins = [&](Row row) { return trace_->start()[row]; };
  std::size_t low = last_[track];
  std::size_t high = low;
  for (std::size_t width = 1; high < rows.size() && begins(rows[high]) <= time; width *= 2) {
    low = high + 1;
    high = std::min(high + width, rows.size());
  }
  for (std::size_t width = 1; low > 0 && begins(rows[low - 1]) > time; width *= 2) {
    high = low - 1;
    low = high - std::min(width, high);
  }
  const auto first = rows.begin() + static_cast<std::ptrdiff_t>(low);
  const auto last = rows.begin() + static_cast<std::ptrdiff_t>(high);
  const auto after = std::ranges::upper_bound(first, last, time, {}, begins);
  last_[track] = static_cast<std::size_t>(after - rows.begin());
  return last_[track];
}

Row HostThreads::at(std::uint32_t track, Nanos time) {
  const std::size_t count = begun(track, time);
  if (count == 0) return trace::kNoRow;
  Row row = spans_[track][count - 1];
  while (row != trace::kNoRow && trace_->end(row) <= time) row = trace_->parent()[row];
  return row;
}

Row HostThreads::doing(std::uint32_t track, Interval time) {
  if (time.length() <= 0) return trace::kNoRow;
  // What fills half of a stretch holds its middle.
  Row row = at(track, time.start + time.length() / 2);
  while (row != trace::kNoRow) {
    const Nanos common =
        std::min(trace_->end(row), time.end) - std::max(trace_->start()[row], time.start);
    if (2 * common >= time.length()) break;
    row = trace_->parent()[row];
  }
  return std::ranges::binary_search(steps_, row) ? trace::kNoRow : row;
}

Row HostThreads::waiting(std::uint32_t track, Nanos time) {
  Row row = at(track, time);
  const auto waits = [&](Row call) {
    return is_api_call(trace_->kind()[call]) &&
           (waits_.matches_row(call) || awaits_its_copy(*trace_, call));
  };
  while (row != trace::kNoRow && !waits(row)) row = trace_->parent()[row];
  return row;
}

}  // namespace stepscope::analysis
