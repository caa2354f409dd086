#include "analysis/stalls/host_marks.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "analysis/device/classes.h"
#include "analysis/device/copies.h"
#include "analysis/host/host_threads.h"
#include "analysis/steps/loader_waits.h"

namespace stepscope::analysis {
namespace {

using trace::Kind;
using trace::Row;

constexpr std::array<std::string_view, kStalls> kNames = {"input",         "save",      "upload",
                                                          "sync",          "allocator", "optimizer",
                                                          "communication", "pause",     "launch"};

// The direction of the copy a call started; empty where it started none.
std::string_view copied(const trace::Trace& trace, Row call) {
  const std::uint32_t entry = trace.launches().rows.find(call);
  if (entry == base::RowSet::kNone) return {};
  for (const Row piece : trace.launches().work_of(entry)) {
    if (trace.kind()[piece] == Kind::kMemcpy) return copy_name(trace.name_text(piece)).kind;
  }
  return {};
}

// The marks of one thread. A call that synchronises right behind a copy of the same operator waits
// for that copy, so it is of the copy's sort.
void add_track(const trace::Trace& trace, const trace::Track& track, std::vector<HostMark>& out) {
  Row copy_parent = trace::kNoRow;
  bool copy_up = false;
  for (Row row = track.begin; row < track.end; ++row) {
    if (trace.phase()[row] != trace::Phase::kSpan) continue;
    const Kind kind = trace.kind()[row];
    const Interval time{trace.start()[row], trace.end(row)};
    if (kind == Kind::kAnnotation && trace.name_text(row).starts_with("Optimizer.step#")) {
      out.push_back({time, Stall::kOptimizer, row});
    }
    if ((kind == Kind::kAnnotation || kind == Kind::kCpuOp) &&
        names_communication_call(trace.name_text(row))) {
      out.push_back({time, Stall::kTalk, row});
    }
    if (!trace::is_api_call(kind)) continue;
    const std::string_view name = trace.name_text(row);
    if (names_allocator_call(name)) {
      out.push_back({time, Stall::kAllocator, row});
      continue;
    }
    if (const std::string_view direction = copied(trace, row); !direction.empty()) {
      copy_parent = trace.parent()[row];
      copy_up = direction == "HtoD";
      if (is_waiting_call(trace, row)) {
        out.push_back({time, copy_up ? Stall::kUpload : Stall::kSync, row});
      }
      continue;
    }
    if (!names_waiting_call(name)) continue;
    const bool of_copy = copy_up && copy_parent == trace.parent()[row];
    out.push_back({time, of_copy ? Stall::kUpload : Stall::kSync, row});
  }
}

// The rows of the ranges in which a loop waits for data: the outermost of each.
void add_fetches(const trace::Trace& trace, std::vector<HostMark>& out) {
  const std::vector<Fetch> list = fetches(trace);
  if (list.empty()) return;
  std::vector<HostMark> found;
  found.reserve(list.size());
  for (const Fetch& fetch : list) found.push_back({{fetch.start, fetch.end}, Stall::kInput});
  for (Row row = 0; row < trace.size(); ++row) {
    if (trace.kind()[row] != Kind::kAnnotation && trace.kind()[row] != Kind::kCpuOp) continue;
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

std::string_view name_of(Stall stall) { return kNames[static_cast<std::size_t>(stall)]; }

bool names_allocator_call(std::string_view call) {
  static constexpr std::array<std::string_view, 18> kCalls = {
      "cudaMalloc",    "cudaFree",         "cudaHostAlloc",     "cudaMallocHost", "cudaFreeHost",
      "cuMemAlloc_v2", "cuMemFree_v2",     "cuMemCreate",       "cuMemMap",       "cuMemUnmap",
      "cuMemRelease",  "cuMemSetAccess",   "hipMalloc",         "hipFree",        "hipHostMalloc",
      "hipHostFree",   "cudaHostRegister", "cudaHostUnregister"};
  return std::ranges::find(kCalls, call) != kCalls.end();
}

std::vector<HostMark> host_marks(const trace::Trace& trace) {
  std::vector<HostMark> out;
  for (const trace::Track& track : trace.tracks()) {
    if (!track.is_device) add_track(trace, track, out);
  }
  add_fetches(trace, out);
  std::ranges::stable_sort(out, [](const HostMark& a, const HostMark& b) {
    return std::tuple(a.time.start, -a.time.end) < std::tuple(b.time.start, -b.time.end);
  });
  return out;
}

}  // namespace stepscope::analysis
