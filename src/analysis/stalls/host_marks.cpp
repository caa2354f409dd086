#include "analysis/stalls/host_marks.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "analysis/arithmetic/sorted_runs.h"
#include "analysis/device/classes.h"
#include "analysis/device/copies.h"
#include "analysis/host/host_threads.h"
#include "analysis/name_sign.h"
#include "analysis/operators/algorithm_searches.h"
#include "analysis/steps/loader_waits.h"
#include "trace/process_record.h"

namespace stepscope::analysis {
namespace {

using trace::Kind;
using trace::Row;

constexpr std::array<std::string_view, kStalls> kHostMarksNames = {
    "input",         "save",      "upload", "sync",  "allocator", "optimizer",
    "communication", "collector", "search", "pause", "launch"};

// As Python's own frames name gc.collect(); collections that nobody called have no frame.
constexpr std::string_view kCollectFrame = "<built-in function collect>";

// The direction of the copy a call started; empty where it started none.
std::string_view copied(const trace::Trace& trace, Row call) {
  const std::uint32_t entry = trace.launches().rows.find(call);
  if (entry == base::RowSet::kNone) return {};
  for (const Row piece : trace.launches().work_of(entry)) {
    if (trace.kind()[piece] == Kind::kMemcpy) return copy_name(trace.name_text(piece)).kind;
  }
  return {};
}

struct MarkNames {
  NameSign optimizer, collection, communication, allocator, waiting;

  explicit MarkNames(const trace::Trace& trace)
      : optimizer(trace, [](std::string_view name) { return name.starts_with("Optimizer.step#"); }),
        collection(trace, [](std::string_view name) { return name == kCollectFrame; }),
        communication(trace, names_communication_call),
        allocator(trace, names_allocator_call),
        waiting(trace, names_waiting_call) {}
};

// The marks of one thread. A call that synchronises right behind a copy of the same operator waits
// for that copy, so it is of the copy's sort.
void add_track(const trace::Trace& trace, const trace::Track& track, MarkNames& names,
               std::vector<HostMark>& out) {
  Row copy_parent = trace::kNoRow;
  bool copy_up = false;
  for (Row row = track.begin; row < track.end; ++row) {
    if (trace.phase()[row] != trace::Phase::kSpan) continue;
    const Kind kind = trace.kind()[row];
    const auto mark = [&](Stall stall) {
      out.push_back({{trace.start()[row], trace.end(row)}, stall, row});
    };
    if (kind == Kind::kAnnotation && names.optimizer.of(row)) mark(Stall::kOptimizer);
    if (kind == Kind::kPython && names.collection.of(row)) mark(Stall::kCollector);
    if ((kind == Kind::kAnnotation || kind == Kind::kCpuOp) && names.communication.of(row)) {
      mark(Stall::kTalk);
    }
    if (!trace::is_api_call(kind)) continue;
    if (names.allocator.of(row)) {
      mark(Stall::kAllocator);
      continue;
    }
    if (const std::string_view direction = copied(trace, row); !direction.empty()) {
      copy_parent = trace.parent()[row];
      copy_up = direction == "HtoD";
      if (names.waiting.of(row) || awaits_its_copy(trace, row)) {
        mark(copy_up ? Stall::kUpload : Stall::kSync);
      }
      continue;
    }
    if (!names.waiting.of(row)) continue;
    const bool of_copy = copy_up && copy_parent == trace.parent()[row];
    mark(of_copy ? Stall::kUpload : Stall::kSync);
  }
}

// The rows of the ranges in which a loop waits for data: the outermost of each.
void add_host_marks_fetches(const trace::Trace& trace, std::vector<HostMark>& out) {
  const std::vector<Fetch> list = fetches(trace);
  if (list.empty()) return;
  std::vector<HostMark> found;
  found.reserve(list.size());
  NameSign loading(trace, names_data_loading);
  for (const Fetch& fetch : list) found.push_back({{fetch.start, fetch.end}, Stall::kInput});
  for (Row row = 0; row < trace.size(); ++row) {
    if (trace.kind()[row] != Kind::kAnnotation && trace.kind()[row] != Kind::kCpuOp) continue;
    if (!loading.of(row)) continue;
    const auto at = std::ranges::lower_bound(found, trace.start()[row], {},
                                             [](const HostMark& mark) { return mark.time.start; });
    if (at == found.end() || at->row != trace::kNoRow) continue;
    const auto index = static_cast<std::size_t>(at - found.begin());
    if (at->time.start == trace.start()[row] && trace.name()[row] == list[index].name)
      at->row = row;
  }
  out.insert(out.end(), found.begin(), found.end());
}

}  // namespace

std::string_view name_of(Stall stall) { return kHostMarksNames[static_cast<std::size_t>(stall)]; }

bool names_allocator_call(std::string_view call) {
  static constexpr std::array<std::string_view, 18> kCalls = {
      "cudaMalloc",    "cudaFree",         "cudaHostAlloc",     "cudaMallocHost", "cudaFreeHost",
      "cuMemAlloc_v2", "cuMemFree_v2",     "cuMemCreate",       "cuMemMap",       "cuMemUnmap",
      "cuMemRelease",  "cuMemSetAccess",   "hipMalloc",         "hipFree",        "hipHostMalloc",
      "hipHostFree",   "cudaHostRegister", "cudaHostUnregister"};
  return std::ranges::find(kCalls, call) != kCalls.end();
}

Intervals recorded_collections(const RunView& view, const WindowView& window) {
  Intervals out;
  const base::Nanos zero = window.trace->clock().zero_unix_ns();
  for (const WindowView& recording : view.recordings) {
    const trace::Trace& trace = *recording.trace;
    const base::StringId name = trace.strings().find(kCollectionCounter);
    if (recording.rank != window.rank || name == base::kNoString) continue;
    if (trace.header().process_record->is_worker) continue;
    const base::Nanos later = trace.clock().zero_unix_ns() - zero;
    const trace::CounterTable& counters = trace.counters();
    for (std::size_t i = 0; i < counters.row.size(); ++i) {
      const Row row = counters.row[i];
      if (trace.name()[row] != name || !(counters.value[i] > 0)) continue;
      const base::Nanos end = trace.start()[row] + later;
      const double most = 1e9;  // ms: a wrong number must not become a wrong time
      out.push_back({end - static_cast<base::Nanos>(1e6 * std::min(most, counters.value[i])), end});
    }
  }
  return sorted_union(std::move(out));
}

std::vector<HostMark> host_marks(const WindowView& window, const Intervals& collections) {
  const trace::Trace& trace = *window.trace;
  std::vector<HostMark> out;
  for (const Interval& time : collections) out.push_back({time, Stall::kCollector});
  for (const AlgorithmSearch& search : searches_of(window).list) {
    out.push_back({{trace.start()[search.row], trace.end(search.row)}, Stall::kSearch, search.row});
  }
  MarkNames names(trace);
  for (const trace::Track& track : trace.tracks()) {
    if (!track.is_device) add_track(trace, track, names, out);
  }
  add_host_marks_fetches(trace, out);
  sort_runs(out, [](const HostMark& a, const HostMark& b) {
    return std::tuple(a.time.start, -a.time.end) < std::tuple(b.time.start, -b.time.end);
  });
  return out;
}

}  // namespace stepscope::analysis
