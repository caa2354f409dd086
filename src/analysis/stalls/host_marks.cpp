// Marks the stretches of host time that keep a device waiting for a reason one can change.
#include "analysis/stalls/host_marks.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "analysis/arithmetic/sorted_runs.h"
#include "analysis/device/classes.h"
#include "analysis/device/copies.h"
#include "analysis/host/host_threads.h"
#include "analysis/idle/held_calls.h"
#include "analysis/name_sign.h"
#include "analysis/operators/algorithm_searches.h"
#include "analysis/stalls/host_work.h"
#include "analysis/steps/loader_waits.h"
#include "trace/process_record.h"
#include "trace/step_names.h"

namespace stepscope::analysis {
namespace {

using trace::Kind;
using trace::Row;

constexpr std::array<std::string_view, kStalls> kHostMarksNames = {
    "input",         "save",      "upload", "sync",    "allocator", "optimizer",
    "communication", "collector", "search", "compile", "update",    "data",
    "inspect",       "operators", "debug",  "driver",  "pause",     "launch"};

Stall stall_of(HostTask task) {
  static constexpr std::array<Stall, kHostTasks> kOf = {Stall::kCompile,   Stall::kUpdate,
                                                        Stall::kData,      Stall::kInspect,
                                                        Stall::kOperators, Stall::kDebug};
  return kOf[static_cast<std::size_t>(task)];
}

// As Python's own frames name gc.collect(); collections that Python began itself have no frame.
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

// The host's end of the copy a call started; empty where it is not said.
std::string_view host_memory_of(const trace::Trace& trace, Row call) {
  const std::uint32_t entry = trace.launches().rows.find(call);
  if (entry == base::RowSet::kNone) return {};
  for (const Row piece : trace.launches().work_of(entry)) {
    if (trace.kind()[piece] == Kind::kMemcpy) {
      return copy_name(trace.name_text(piece)).host_memory;
    }
  }
  return {};
}

constexpr std::size_t kNoStop = static_cast<std::size_t>(-1);
constexpr base::Nanos kSameStop = 20'000;  // from the end of a copy to the call that waits for it

struct MarkNames {
  NameSign optimizer, collection, communication, allocator, waiting;

  explicit MarkNames(const trace::Trace& trace)
      : optimizer(trace, [](std::string_view name) { return name.starts_with("Optimizer.step#"); }),
        collection(trace, [](std::string_view name) { return name == kCollectFrame; }),
        communication(trace, names_communication_call),
        allocator(trace, names_allocator_call),
        waiting(trace, names_waiting_call) {}
};

// The marks of one thread. A call that synchronises right after a copy of the same operator waits
// for that copy, so it is of the copy's sort.
void add_track(const trace::Trace& trace, const trace::Track& track, MarkNames& names,
               std::vector<HostMark>& out) {
  Row copy_parent = trace::kNoRow;
  bool copy_up = false;
  // The mark of a copy that is waited for: the synchronising call after it is the same stop.
  std::size_t stop = kNoStop;
  for (Row row = track.begin; row < track.end; ++row) {
    if (trace.phase()[row] != trace::Phase::kSpan) continue;
    const Kind kind = trace.kind()[row];
    const auto mark = [&](Stall stall) {
      out.push_back({{trace.start()[row], trace.end(row)}, stall, row});
    };
    if (kind == Kind::kAnnotation && names.optimizer.matches_row(row)) mark(Stall::kOptimizer);
    if (kind == Kind::kPython && names.collection.matches_row(row)) mark(Stall::kCollector);
    if ((kind == Kind::kAnnotation || kind == Kind::kCpuOp) &&
        names.communication.matches_row(row)) {
      mark(Stall::kTalk);
    }
    if (!trace::is_api_call(kind)) continue;
    if (names.allocator.matches_row(row)) {
      mark(Stall::kAllocator);
      continue;
    }
    if (const std::string_view direction = copied(trace, row); !direction.empty()) {
      copy_parent = trace.parent()[row];
      copy_up = direction == "HtoD";
      if (names.waiting.matches_row(row) || awaits_its_copy(trace, row)) {
        stop = out.size();
        mark(copy_up ? Stall::kUpload : Stall::kSync);
      } else {
        stop = kNoStop;
      }
      continue;
    }
    if (!names.waiting.matches_row(row)) {
      const bool launches = trace.launches().rows.find(row) != base::RowSet::kNone;
      if (!launches && trace.end(row) - trace.start()[row] >= kHeld) mark(Stall::kDriver);
      continue;
    }
    const bool same = copy_parent == trace.parent()[row];
    if (stop != kNoStop && same && trace.start()[row] - out[stop].time.end <= kSameStop) {
      out[stop].time.end = std::max(out[stop].time.end, trace.end(row));
    } else {
      mark(copy_up && same ? Stall::kUpload : Stall::kSync);
    }
    stop = kNoStop;
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
    if (!loading.matches_row(row)) continue;
    const auto at = std::ranges::lower_bound(found, trace.start()[row], {},
                                             [](const HostMark& mark) { return mark.time.start; });
    if (at == found.end() || at->row != trace::kNoRow) continue;
    const auto index = static_cast<std::size_t>(at - found.begin());
    if (at->time.start == trace.start()[row] && trace.name()[row] == list[index].name)
      at->row = row;
  }
  out.insert(out.end(), found.begin(), found.end());
}

// What the host waits for in a check of anomaly mode is that mode's.
void give_waits_to_checks(std::vector<HostMark>& marks) {
  Intervals checks;
  for (const HostMark& mark : marks) {
    if (mark.stall == Stall::kDebug) checks.push_back(mark.time);
  }
  if (checks.empty()) return;
  CoverageWalk inside(sorted_union(std::move(checks)));
  for (HostMark& mark : marks) {
    if (mark.stall == Stall::kSync && inside.covered(mark.time) == mark.time.length()) {
      mark.stall = Stall::kDebug;
    }
  }
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
  for (const HostEpisode& one : host_work(window).episodes) {
    out.push_back({one.time, stall_of(one.task), one.row});
  }
  MarkNames names(trace);
  for (const trace::Track& track : trace.tracks()) {
    if (!track.is_device) add_track(trace, track, names, out);
  }
  add_host_marks_fetches(trace, out);
  give_waits_to_checks(out);
  sort_runs(out, [](const HostMark& a, const HostMark& b) {
    return std::tuple(a.time.start, -a.time.end) < std::tuple(b.time.start, -b.time.end);
  });
  return out;
}

namespace {

constexpr std::size_t kLeastCopies = 8;
constexpr base::Bytes kLeastBytes = std::int64_t{64} << 20;
// Of a small model: more tensors than anybody looks at one by one, and of many sizes, as weights
// are and results are not.
constexpr std::size_t kManyCopies = 32;
constexpr std::size_t kManySizes = 5;
constexpr base::Bytes kFewBytes = std::int64_t{4} << 20;

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

// "torch/serialization.py(967): save", and those of torch.distributed.checkpoint.
bool is_saving_frame(std::string_view frame) {
  const bool plain = frame.find("torch/serialization.py(") != std::string_view::npos &&
                     (frame.ends_with(": save") || frame.ends_with(": _save"));
  const bool safe = frame.find("safetensors/torch.py(") != std::string_view::npos &&
                    frame.find(": save") != std::string_view::npos;
  return plain || safe ||
         frame.find("torch/distributed/checkpoint/state_dict_saver.py(") != std::string_view::npos;
}

// Ranges that the program or its framework named so.
bool is_saving_range(std::string_view range) {
  const std::string name = lower(range);
  return name.find("checkpoint") != std::string::npos || name.starts_with("save") ||
         name.starts_with("saving") || name.find(".save") != std::string::npos ||
         name.find(" save") != std::string::npos;
}

bool is_download(const trace::Trace& trace, const Work& piece) {
  return piece.work_class == WorkClass::kCopy &&
         copy_name(trace.name_text(piece.row)).kind == "DtoH";
}

}  // namespace

SavingSigns::SavingSigns(const trace::Trace& trace)
    : frame_(trace, is_saving_frame),
      range_(trace, is_saving_range),
      copies_(trace, [](std::string_view name) { return name == "aten::copy_"; }),
      sets_(trace, [](std::string_view name) { return name == "aten::set_"; }) {}

bool SavingSigns::asked(const trace::Trace& trace, trace::Row call, std::size_t copies) {
  const bool is_pinned = host_memory_of(trace, call) == "pinned";
  for (trace::Row row = call; row != trace::kNoRow; row = trace.parent()[row]) {
    const trace::Kind kind = trace.kind()[row];
    if (kind == trace::Kind::kPython && frame_.matches_row(row)) return true;
    if (kind == trace::Kind::kAnnotation && copies >= kLeastCopies && range_.matches_row(row))
      return true;
    if (kind != trace::Kind::kCpuOp || row == 0 || !copies_.matches_row(row)) continue;
    if (is_pinned) continue;  // a process group's, which sends it
    // The operator before it, at the same depth: rows come callers first.
    trace::Row before = row - 1;
    while (before != trace::kNoRow && trace.parent()[before] != trace.parent()[row]) {
      before = trace.parent()[before];
    }
    if (before != trace::kNoRow && trace.track()[before] == trace.track()[row] &&
        sets_.matches_row(before)) {
      return true;
    }
  }
  return false;
}

std::vector<bool> saved_pieces(const WindowView& window) {
  const trace::Trace& trace = *window.trace;
  std::vector<bool> out(window.work.size());
  SavingSigns saving(trace);
  const HostWork& work = host_work(window);
  const auto is_worked_on = [&](const auto& copy) {
    return work.belongs(copy.second, HostTask::kInspect) ||
           work.belongs(copy.second, HostTask::kUpdate);
  };
  for (const DeviceView& device : window.devices) {
    // In the order in which the host asked for them: other work may still run meanwhile.
    std::vector<std::pair<base::Nanos, std::uint32_t>> order;
    for (std::size_t i = device.begin; i < device.end; ++i) {
      const trace::Row call = window.work[i].launch;
      if (call == trace::kNoRow) continue;
      order.emplace_back(trace.start()[call], static_cast<std::uint32_t>(i));
    }
    sort_runs(order, [](const auto& a, const auto& b) { return a.first < b.first; });
    for (std::size_t first = 0; first < order.size();) {
      std::size_t last = first;
      base::Bytes bytes = 0;
      std::set<base::Bytes> sizes;
      for (; last < order.size() && is_download(trace, window.work[order[last].second]); ++last) {
        const base::Bytes size = bytes_of(trace, window.work[order[last].second].row).value_or(0);
        bytes += size;
        if (sizes.size() < kManySizes) sizes.insert(size);
      }
      const std::size_t copies = last - first;
      const bool large = copies >= kLeastCopies && bytes >= kLeastBytes;
      const bool of_weights =
          copies >= kManyCopies && sizes.size() >= kManySizes && bytes >= kFewBytes;
      const auto run = std::span(order).subspan(first, copies);
      if (std::ranges::none_of(run, is_worked_on) &&
          (large || of_weights ||
           (copies > 0 && saving.asked(trace, window.work[order[first].second].launch, copies)))) {
        for (std::size_t i = first; i < last; ++i) out[order[i].second] = true;
      }
      first = std::max(last, first + 1);
    }
  }
  return out;
}

namespace {

using trace::Kind;
using trace::Row;

// "train.py(12): log"; the framework's own files lie in a folder of its name.
bool is_function(std::string_view frame) { return frame.find(".py(") != std::string_view::npos; }
bool is_of_framework(std::string_view frame) {
  return frame.starts_with("torch/") || frame.find("/torch/") != std::string_view::npos;
}

// Ranges that another kind of stall has a word for.
bool is_spoken_for(std::string_view range) {
  return trace::names_a_step(range) || range.starts_with("Optimizer.") ||
         names_data_loading(range) || names_communication_call(range);
}

bool is_quiet(const Intervals& recorded, Interval time) {
  const auto next = std::ranges::upper_bound(recorded, time.start, {}, &Interval::end);
  return next == recorded.end() || next->start >= time.end;
}

struct Signs {
  NameSign function, framework, spoken_for;

  explicit Signs(const trace::Trace& trace)
      : function(trace, is_function),
        framework(trace, is_of_framework),
        spoken_for(trace, is_spoken_for) {}
};

// Of the program itself: a function in a file, or a built-in that such a function calls.
bool is_own(const trace::Trace& trace, Row row, Signs& signs) {
  if (trace.kind()[row] == Kind::kAnnotation) return !signs.spoken_for.matches_row(row);
  if (trace.kind()[row] != Kind::kPython || signs.framework.matches_row(row)) return false;
  if (signs.function.matches_row(row)) return true;
  const Row caller = trace.parent()[row];
  return caller != trace::kNoRow && trace.kind()[caller] == Kind::kPython &&
         signs.function.matches_row(caller) && !signs.framework.matches_row(caller);
}

}  // namespace

QuietRanges quiet_ranges(const trace::Trace& trace, const Intervals& recorded) {
  QuietRanges out;
  Signs signs(trace);
  for (const trace::Track& track : trace.tracks()) {
    if (track.is_device || track.begin == track.end) continue;
    base::Nanos reach = trace.start()[track.begin];  // the end of the last that was taken
    for (Row row = track.begin; row < track.end; ++row) {
      if (trace.phase()[row] != trace::Phase::kSpan) continue;
      const Interval time{trace.start()[row], trace.end(row)};
      if (time.start < reach) {
        if (trace.kind()[row] == Kind::kPython && signs.framework.matches_row(row)) {
          out.framework.push_back(time);
        }
      } else if (time.end > time.start && is_own(trace, row, signs) && is_quiet(recorded, time)) {
        out.own.push_back(time);
        reach = time.end;
      }
    }
  }
  out.own = sorted_union(std::move(out.own));
  out.framework = sorted_union(std::move(out.framework));
  return out;
}

}  // namespace stepscope::analysis
