// What the host did while the GPU waited: idle time shared out among what the launching thread was
// in, by operator and by Python frame, and by the call that ended the wait.
#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/idle/idle_hosts.h"
#include "analysis/key_columns.h"
#include "analysis/name_sign.h"
#include "analysis/registry.h"
#include "analysis/share_of.h"
#include "analysis/steps/within.h"
#include "analysis/view.h"
#include "trace/step_names.h"

namespace stepscope::analysis {
namespace {

// Idle time of a rank's devices, shared out among what the launching thread was in.

struct WaitSum {
  base::Nanos idle = 0, longest = 0;
  std::uint64_t waits = 0;
  void merge(const WaitSum& other) {
    idle += other.idle;
    longest = std::max(longest, other.longest);
    waits += other.waits;
  }
};
using HostKey = std::pair<std::string, std::string>;  // text, and its kind where there is one
using HostParts = std::map<HostKey, WaitSum>;

struct HostThread {
  std::string name;
  std::uint64_t ended = 0;
  base::Nanos recorded = 0;
};

// Of one window, or of all windows of a rank.
struct HostWaits {
  std::array<HostParts, 4> parts;  // in the order of the tables
  std::map<std::string, HostThread> threads;
  base::Nanos idle = 0;

  void merge(const HostWaits& other);
};

using base::Nanos;
using trace::Row;

constexpr std::uint32_t kCpuWaitsNone = 0xffffffff;
constexpr std::uint32_t kPython = kCpuWaitsNone - 1;  // Python, but no operator

// Adds lengths by number; a wait counts once for a number, however often it comes back to it.
// Numbers are small, but for the two that stand for nothing; these have the first places.
class Adder {
 public:
  void add(std::uint32_t key, std::uint32_t wait, Nanos length) {
    // Most moments are in the same place as the one before.
    if (key != key_ || wait != wait_) {
      settle();
      key_ = key;
      wait_ = wait;
    }
    length_ += length;
  }
  template <class Text>
  void into(HostParts& parts, Text text) {
    settle();
    for (std::size_t place = 0; place < sums_.size(); ++place) {
      const WaitSum& part = sums_[place].part;
      if (part.waits > 0) parts[text(static_cast<std::uint32_t>(place) - 2)].merge(part);
    }
  }

 private:
  void settle() {
    if (length_ > 0) put(key_, wait_, std::exchange(length_, 0));
  }
  void put(std::uint32_t key, std::uint32_t wait, Nanos length) {
    const std::size_t place = static_cast<std::uint32_t>(key + 2);
    if (place >= sums_.size()) sums_.resize(std::max(place + 1, 2 * sums_.size()));
    Sum& sum = sums_[place];
    if (sum.part.waits == 0 || sum.wait != wait) {
      sum.wait = wait;
      sum.in_wait = 0;
      ++sum.part.waits;
    }
    sum.in_wait += length;
    sum.part.idle += length;
    sum.part.longest = std::max(sum.part.longest, sum.in_wait);
  }
  struct Sum {
    WaitSum part;
    Nanos in_wait = 0;
    std::uint32_t wait = 0;
  };
  static_assert(static_cast<std::uint32_t>(kPython + 2) == 0 &&
                static_cast<std::uint32_t>(kCpuWaitsNone + 2) == 1);
  std::vector<Sum> sums_;
  std::uint32_t key_ = kCpuWaitsNone, wait_ = 0;  // of what is not in the sums yet
  Nanos length_ = 0;
};

std::string path_text(const HostPlaces& places, std::uint32_t path) {
  std::vector<std::string_view> inwards;
  for (; path != kCpuWaitsNone; path = places.paths.members()[path].first) {
    inwards.emplace_back(places.frames[places.paths.members()[path].second]);
  }
  std::string text;
  for (std::size_t i = inwards.size(); i-- > 0;) {
    if (!text.empty()) text += ';';
    text += inwards[i];
  }
  return text;
}

// The operator that launched a piece of work, as a row; its launch where there is none.
Row ended_by(const trace::Trace& trace, const Work& piece) {
  if (piece.launch == trace::kNoRow) return trace::kNoRow;
  const Row op = trace.launches().op[trace.launches().rows.rank(piece.launch)];
  return op != trace::kNoRow ? op : piece.launch;
}

void add_cpu_waits_device(HostWaits& out, const WindowView& window,
                          const std::vector<IdleStretch>& stretches) {
  const trace::Trace& trace = *window.trace;
  // By name and kind: a name is a number, a kind fits beside it.
  Adder named;
  Adder frames;
  Adder paths;
  Adder ends;
  PairNumbers pairs;
  struct LastPair {
    std::uint32_t kind = kCpuWaitsNone, number = kCpuWaitsNone;
  };
  std::vector<LastPair> last(trace.strings().size());  // by name
  const auto pair_of = [&](Row row) {
    const base::StringId name = trace.name()[row];
    const auto kind = static_cast<std::uint32_t>(trace.kind()[row]);
    if (name >= last.size()) return pairs.number(name, kind);
    LastPair& known = last[name];
    if (known.kind != kind) known = {kind, pairs.number(name, kind)};
    return known.number;
  };
  const HostPlaces places = host_moments(window, stretches, [&](const HostMoment& moment) {
    const Nanos length = moment.time.length();
    const std::uint32_t in_none = moment.frame == kCpuWaitsNone ? kCpuWaitsNone : kPython;
    const bool in_any = moment.named != trace::kNoRow;
    named.add(in_any ? pair_of(moment.named) : in_none, moment.stretch, length);
    frames.add(moment.frame, moment.stretch, length);
    paths.add(moment.path, moment.stretch, length);
  });
  for (std::uint32_t i = 0; i < stretches.size(); ++i) {
    const IdleStretch& stretch = stretches[i];
    const Nanos length = stretch.time.length();
    out.idle += length;
    if (stretch.next == IdleStretch::kNobody) {
      ends.add(kCpuWaitsNone, i, length);
      continue;
    }
    const Work& piece = window.work[stretch.next];
    const Row row = ended_by(trace, piece);
    ends.add(row == trace::kNoRow ? kPython : trace.name()[row], i, length);
    if (piece.launch != trace::kNoRow) {
      ++out.threads[trace.tracks()[trace.track()[piece.launch]].thread].ended;
    }
  }
  named.into(out.parts[0], [&](std::uint32_t key) -> HostKey {
    if (key == kCpuWaitsNone) return {"(nothing recorded)", ""};
    if (key == kPython) return {"(Python, in no operator)", ""};
    const auto& [name, kind] = pairs.members()[key];
    return {std::string(trace.text(name)), std::string(name_of(static_cast<trace::Kind>(kind)))};
  });
  frames.into(out.parts[1], [&](std::uint32_t key) -> HostKey {
    return {key == kCpuWaitsNone ? "(no Python frame)" : places.frames[key], ""};
  });
  paths.into(out.parts[2], [&](std::uint32_t key) -> HostKey {
    return {key == kCpuWaitsNone ? "(no Python frame)" : path_text(places, key), ""};
  });
  ends.into(out.parts[3], [&](std::uint32_t key) -> HostKey {
    if (key == kCpuWaitsNone) return {"(the end of a step or of the recording)", ""};
    if (key == kPython) return {"(launch not recorded)", ""};
    return {std::string(trace.text(key)), ""};
  });
}

// How much of the idle time each thread was in something.
void add_threads(HostWaits& out, const WindowView& window, const Intervals& idle) {
  const trace::Trace& trace = *window.trace;
  NameSign steps(trace, trace::names_a_step);
  for (const trace::Track& track : trace.tracks()) {
    if (track.is_device) continue;
    Union recorded;
    bool any = false;
    for (Row row = track.begin; row < track.end; ++row) {
      const trace::Kind kind = trace.kind()[row];
      if (trace.phase()[row] != trace::Phase::kSpan || kind == trace::Kind::kOverhead ||
          kind == trace::Kind::kProfiler || (trace.flags()[row] & trace::kFarTime) != 0) {
        continue;
      }
      any = true;
      if (!steps.matches_row(row)) recorded.add(trace.start()[row], trace.end(row));
    }
    if (!any) continue;
    HostThread& thread = out.threads[track.thread];
    thread.name = track.thread_name;
    thread.recorded += common(recorded.set(), idle);
  }
}

HostWaits host_waits(const WindowView& window, Within within) {
  HostWaits out;
  for (const DeviceView& device : window.devices) {
    const Intervals measured = measured_time(window, device, within);
    add_cpu_waits_device(out, window, idle_stretches(window, device, measured));
    add_threads(out, window, subtract(measured, device.busy));
  }
  return out;
}

void HostWaits::merge(const HostWaits& other) {
  for (std::size_t t = 0; t < parts.size(); ++t) {
    for (const auto& [key, part] : other.parts[t]) parts[t][key].merge(part);
  }
  for (const auto& [id, thread] : other.threads) {
    HostThread& own = threads[id];
    if (own.name.empty()) own.name = thread.name;
    own.ended += thread.ended;
    own.recorded += thread.recorded;
  }
  idle += other.idle;
}

using base::Cell;
using base::ColumnShape;
using base::Nanos;
using base::Null;
using base::Type;
using base::Unit;

constexpr std::array kCpuParameters = {
    Parameter{"top", ParameterType::kCount, "20",
              "rows of each table per rank; the rest is one row. 0: all"},
    kWithin,
};

constexpr std::array kSums = std::to_array<ColumnShape>({
    {"idle_ns", Type::kInt, Unit::kNanos,
     "idle time of the rank's GPUs in which the host was in it"},
    {"share", Type::kReal, Unit::kShare, "of the idle time of the rank's GPUs; rows add up to 1"},
    {"waits", Type::kInt, Unit::kCount, "in how many waits of a GPU it took part"},
    {"longest_ns", Type::kInt, Unit::kNanos, "its largest part of one wait"},
});
template <std::size_t N>
constexpr auto with_sums(const std::array<ColumnShape, N>& before) {
  std::array<ColumnShape, N + kSums.size()> all{};
  std::ranges::copy(before, all.begin());
  std::ranges::copy(kSums, all.begin() + N);
  return all;
}
constexpr auto kCpuOperatorColumns = with_sums(std::to_array<ColumnShape>({
    key::kRank,
    {"doing", Type::kText, Unit::kNone,
     "the innermost operator, annotation or call into the runtime that the launching thread was "
     "in; "
     "in parentheses: in none; null: all the others together"},
    {"kind", Type::kText, Unit::kNone, "cpu_op, annotation, runtime, driver or another"},
}));
constexpr auto kCpuFrameColumns = with_sums(std::to_array<ColumnShape>({
    key::kRank,
    {"frame", Type::kText, Unit::kNone,
     "the innermost Python function that thread was in; in parentheses: in none; null: all the "
     "others together"},
}));
constexpr auto kPathColumns = with_sums(std::to_array<ColumnShape>({
    key::kRank,
    {"path", Type::kText, Unit::kNone,
     "the Python functions that thread was in, the outermost first, by ';'; in parentheses: in "
     "none; null: all the others together"},
}));
constexpr auto kEndColumns = with_sums(std::to_array<ColumnShape>({
    key::kRank,
    {"ended_by", Type::kText, Unit::kNone,
     "the operator that launched the work that ended the wait, else its annotation, else the call "
     "itself; in parentheses: nothing known; null: all the others together"},
}));
constexpr std::array kThreadColumns = std::to_array<ColumnShape>({
    key::kRank,
    {"thread", Type::kText, Unit::kNone, "number of a thread on the host"},
    {"thread_name", Type::kText, Unit::kNone, "as recorded"},
    {"ended_waits", Type::kInt, Unit::kCount, "waits that a launch of this thread ended"},
    {"recorded_ns", Type::kInt, Unit::kNanos,
     "idle time of the rank's GPUs in which something of this thread was recorded, steps apart"},
    {"share", Type::kReal, Unit::kShare, "of the idle time; threads run at once and do not add up"},
});
constexpr std::array<std::string_view, 1> kCpuBar = {"idle_ns"};
constexpr std::array kCpuTables = std::to_array<base::TableShape>({
    {"operators",
     "one thing the host was in while a GPU waited, the longest first",
     kCpuOperatorColumns,
     {base::Chart::kBars, "doing", kCpuBar, "rank"}},
    {"frames",
     "one Python function the host was in while a GPU waited",
     kCpuFrameColumns,
     {base::Chart::kBars, "frame", kCpuBar, "rank"}},
    {"paths", "one chain of Python functions the host was in while a GPU waited", kPathColumns},
    {"ends", "what launched the work that ended the waits", kEndColumns},
    {"threads", "one thread of the host", kThreadColumns},
});

void write(base::Table& table, std::int32_t rank, const HostParts& parts, Nanos idle,
           std::size_t top) {
  const bool with_kind = table.width() == kCpuOperatorColumns.size();
  std::vector<std::pair<const HostKey*, const WaitSum*>> lines;
  lines.reserve(parts.size());
  for (const auto& [key, part] : parts) lines.emplace_back(&key, &part);
  std::ranges::stable_sort(lines, std::ranges::greater{},
                           [](const auto& line) { return line.second->idle; });
  const auto add = [&](const Cell& text, const Cell& kind, const WaitSum& part) {
    std::vector<Cell> cells;
    cells.reserve(table.width());
    cells.emplace_back(rank);
    cells.push_back(text);
    if (with_kind) cells.push_back(kind);
    cells.emplace_back(part.idle);
    cells.emplace_back(share_of(part.idle, idle));
    cells.emplace_back(part.waits);
    cells.emplace_back(part.longest);
    table.add(cells);
  };
  const bool fits = top == 0 || lines.size() <= top + 1;
  const std::size_t shown = fits ? lines.size() : top;
  for (const auto& [key, part] : std::span(lines).first(shown)) {
    add(key->first, key->second.empty() ? Cell(Null{}) : Cell(key->second), *part);
  }
  if (fits) return;
  WaitSum rest;
  for (const auto& [key, part] : std::span(lines).subspan(shown)) rest.merge(*part);
  add(Null{}, Null{}, rest);
}

// Where no Python frame of a launching thread is seen while a GPU waited.
std::string why_no_frames(const RunView& view) {
  bool python = false, launches = false;
  for (const WindowView& window : view.windows) {
    const auto kinds = window.trace->kind();
    python = python || std::ranges::find(kinds, trace::Kind::kPython) != kinds.end();
    launches = launches || std::ranges::any_of(window.work, [](const Work& piece) {
                 return piece.launch != trace::kNoRow;
               });
  }
  if (!python) {
    return "No Python frames were recorded while a GPU waited: profile with with_stack=True to see "
           "them.";
  }
  if (!launches) {
    return "The calls that launched the GPU's work were not recorded, so it is not known which "
           "thread fed it: the Python frames of the trace are not assigned.";
  }
  return "The trace has Python frames, but none on a launching thread while a GPU waited.";
}

Answer run_cpu(const RunView& view, const Options& options) {
  const Within within = within_of(options);
  const auto top = static_cast<std::size_t>(options.count("top"));
  const auto partials = per_window<HostWaits>(
      view, [&](const WindowView& window) { return host_waits(window, within); });
  std::map<std::int32_t, HostWaits> ranks;
  for (std::size_t w = 0; w < partials.size(); ++w) {
    ranks[view.windows[w].rank].merge(partials[w]);
  }
  Answer answer;
  for (const base::TableShape& shape : kCpuTables) answer.tables.emplace_back(shape);
  bool frames = false;
  for (const auto& [rank, about] : ranks) {
    for (std::size_t t = 0; t < about.parts.size(); ++t) {
      write(answer.tables[t], rank, about.parts[t], about.idle, top);
    }
    frames |= about.parts[1].size() > 1;
    if (about.idle == 0) continue;
    for (const auto& [id, thread] : about.threads) {
      answer.tables[4].add({rank, id, thread.name.empty() ? Cell(Null{}) : Cell(thread.name),
                            thread.ended, thread.recorded, share_of(thread.recorded, about.idle)});
    }
  }
  if (!view.has_device_work()) {
    answer.remarks.push_back(why_no_device_work(view));
  } else if (!frames) {
    answer.remarks.emplace_back(why_no_frames(view));
  }
  return answer;
}

}  // namespace

const Analysis kCpu{
    .name = "cpu",
    .title = "Host while the GPU waits",
    .question = "What did the host do while the GPU had nothing to do?",
    .parameters = kCpuParameters,
    .tables = kCpuTables,
    .run = run_cpu,
};

}  // namespace stepscope::analysis
