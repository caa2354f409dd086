// What the host did while the GPU waited: idle time shared out among what the launching thread was
// in, by operator and by Python frame, and by the call that ended the wait.
#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/idle/idle_hosts.h"
#include "analysis/registry.h"
#include "analysis/steps/within.h"
#include "analysis/view.h"

namespace stepscope::analysis {
namespace {

using base::Cell;
using base::ColumnShape;
using base::Nanos;
using base::Null;
using base::Type;
using base::Unit;
using trace::Row;

constexpr std::array kParameters = {
    Parameter{"top", ParameterType::kCount, "20",
              "rows of each table per rank; the rest is one row. 0: all"},
    kWithin,
};

constexpr ColumnShape kRank{"rank", Type::kInt, Unit::kId, "rank of the process"};
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
constexpr auto kOperatorColumns = with_sums(std::to_array<ColumnShape>({
    kRank,
    {"doing", Type::kText, Unit::kNone,
     "the innermost operator, annotation or call into the runtime that the launching thread was "
     "in; "
     "in parentheses: in none; null: all the others together"},
    {"kind", Type::kText, Unit::kNone, "cpu_op, annotation, runtime, driver or another"},
}));
constexpr auto kFrameColumns = with_sums(std::to_array<ColumnShape>({
    kRank,
    {"frame", Type::kText, Unit::kNone,
     "the innermost Python function that thread was in; in parentheses: in none; null: all the "
     "others together"},
}));
constexpr auto kPathColumns = with_sums(std::to_array<ColumnShape>({
    kRank,
    {"path", Type::kText, Unit::kNone,
     "the Python functions that thread was in, the outermost first, by ';'; in parentheses: in "
     "none; null: all the others together"},
}));
constexpr auto kEndColumns = with_sums(std::to_array<ColumnShape>({
    kRank,
    {"ended_by", Type::kText, Unit::kNone,
     "the operator that launched the work that ended the wait, else its annotation, else the call "
     "itself; in parentheses: nothing known; null: all the others together"},
}));
constexpr std::array kThreadColumns = std::to_array<ColumnShape>({
    kRank,
    {"thread", Type::kText, Unit::kNone, "number of a thread on the host"},
    {"thread_name", Type::kText, Unit::kNone, "as recorded"},
    {"ended_waits", Type::kInt, Unit::kCount, "waits that a launch of this thread ended"},
    {"recorded_ns", Type::kInt, Unit::kNanos,
     "idle time of the rank's GPUs in which something of this thread was recorded, steps apart"},
    {"share", Type::kReal, Unit::kShare, "of the idle time; threads run at once and do not add up"},
});
constexpr std::array<std::string_view, 1> kBar = {"idle_ns"};
constexpr std::array kTables = std::to_array<base::TableShape>({
    {"operators",
     "one thing the host was in while a GPU waited, the longest first",
     kOperatorColumns,
     {base::Chart::kBars, "doing", kBar, "rank"}},
    {"frames",
     "one Python function the host was in while a GPU waited",
     kFrameColumns,
     {base::Chart::kBars, "frame", kBar, "rank"}},
    {"paths", "one chain of Python functions the host was in while a GPU waited", kPathColumns},
    {"ends", "what launched the work that ended the waits", kEndColumns},
    {"threads", "one thread of the host", kThreadColumns},
});

struct Part {
  Nanos idle = 0, longest = 0;
  std::uint64_t waits = 0;
  void merge(const Part& other) {
    idle += other.idle;
    longest = std::max(longest, other.longest);
    waits += other.waits;
  }
};
using Key = std::pair<std::string, std::string>;  // text, and its kind where there is one
using Parts = std::map<Key, Part>;

struct Thread {
  std::string name;
  std::uint64_t ended = 0;
  Nanos recorded = 0;
};

struct Rank {
  std::array<Parts, 4> parts;  // in the order of the tables
  std::map<std::string, Thread> threads;
  Nanos idle = 0;
};

// Adds lengths by number; a wait counts once for a number, however often it comes back to it.
class Adder {
 public:
  void add(std::uint32_t key, std::uint32_t wait, Nanos length) {
    const auto [found, fresh] = sums_.try_emplace(key);
    Sum& sum = found->second;
    if (fresh || sum.wait != wait) {
      sum.wait = wait;
      sum.in_wait = 0;
      ++sum.part.waits;
    }
    sum.in_wait += length;
    sum.part.idle += length;
    sum.part.longest = std::max(sum.part.longest, sum.in_wait);
  }
  template <class Text>
  void into(Parts& parts, Text text) const {
    for (const auto& [key, sum] : sums_) parts[text(key)].merge(sum.part);
  }

 private:
  struct Sum {
    Part part;
    Nanos in_wait = 0;
    std::uint32_t wait = 0;
  };
  std::unordered_map<std::uint32_t, Sum> sums_;
};

constexpr std::uint32_t kNone = 0xffffffff;

std::string path_text(const HostMoments& moments, std::uint32_t path) {
  std::vector<std::string_view> inwards;
  for (; path != kNone; path = moments.paths.members()[path].first) {
    inwards.emplace_back(moments.frames[moments.paths.members()[path].second]);
  }
  std::string text;
  for (std::size_t i = inwards.size(); i-- > 0;) {
    if (!text.empty()) text += ';';
    text += inwards[i];
  }
  return text;
}

// The operator behind a piece of work, as a row; its launch where there is none.
Row ended_by(const trace::Trace& trace, const Work& piece) {
  if (piece.launch == trace::kNoRow) return trace::kNoRow;
  const Row op = trace.launches().op[trace.launches().rows.rank(piece.launch)];
  return op != trace::kNoRow ? op : piece.launch;
}

void add_device(Rank& out, const WindowView& window, const std::vector<IdleStretch>& stretches) {
  const trace::Trace& trace = *window.trace;
  const HostMoments moments = host_moments(window, stretches);
  // By name and kind: a name is a number, a kind fits beside it.
  Adder named;
  Adder frames;
  Adder paths;
  Adder ends;
  constexpr std::uint32_t kPython = kNone - 1;  // Python, but no operator
  PairNumbers pairs;
  for (const HostMoment& moment : moments.list) {
    const Nanos length = moment.time.length();
    const std::uint32_t in_none = moment.frame == kNone ? kNone : kPython;
    const bool in_any = moment.named != trace::kNoRow;
    named.add(in_any ? pairs.number(trace.name()[moment.named],
                                    static_cast<std::uint32_t>(trace.kind()[moment.named]))
                     : in_none,
              moment.stretch, length);
    frames.add(moment.frame, moment.stretch, length);
    paths.add(moment.path, moment.stretch, length);
  }
  for (std::uint32_t i = 0; i < stretches.size(); ++i) {
    const IdleStretch& stretch = stretches[i];
    const Nanos length = stretch.time.length();
    out.idle += length;
    if (stretch.next == IdleStretch::kNobody) {
      ends.add(kNone, i, length);
      continue;
    }
    const Work& piece = window.work[stretch.next];
    const Row row = ended_by(trace, piece);
    ends.add(row == trace::kNoRow ? kPython : trace.name()[row], i, length);
    if (piece.launch != trace::kNoRow) {
      ++out.threads[trace.tracks()[trace.track()[piece.launch]].thread].ended;
    }
  }
  named.into(out.parts[0], [&](std::uint32_t key) -> Key {
    if (key == kNone) return {"(nothing recorded)", ""};
    if (key == kPython) return {"(Python, in no operator)", ""};
    const auto& [name, kind] = pairs.members()[key];
    return {std::string(trace.text(name)), std::string(name_of(static_cast<trace::Kind>(kind)))};
  });
  frames.into(out.parts[1], [&](std::uint32_t key) -> Key {
    return {key == kNone ? "(no Python frame)" : moments.frames[key], ""};
  });
  paths.into(out.parts[2], [&](std::uint32_t key) -> Key {
    return {key == kNone ? "(no Python frame)" : path_text(moments, key), ""};
  });
  ends.into(out.parts[3], [&](std::uint32_t key) -> Key {
    if (key == kNone) return {"(the end of a step or of the recording)", ""};
    if (key == kPython) return {"(launch not recorded)", ""};
    return {std::string(trace.text(key)), ""};
  });
}

// How much of the idle time each thread was in something.
void add_threads(Rank& out, const WindowView& window, const Intervals& idle) {
  const trace::Trace& trace = *window.trace;
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
      if (!trace.name_text(row).starts_with("ProfilerStep#")) {
        recorded.add(trace.start()[row], trace.end(row));
      }
    }
    if (!any) continue;
    Thread& thread = out.threads[track.thread];
    thread.name = track.thread_name;
    thread.recorded += common(recorded.set(), idle);
  }
}

Rank compute(const WindowView& window, Within within) {
  Rank out;
  for (const DeviceView& device : window.devices) {
    const Intervals measured = measured_time(window, device, within);
    add_device(out, window, idle_stretches(window, device, measured));
    add_threads(out, window, subtract(measured, device.busy));
  }
  return out;
}

void merge(Rank& into, const Rank& other) {
  for (std::size_t t = 0; t < into.parts.size(); ++t) {
    for (const auto& [key, part] : other.parts[t]) into.parts[t][key].merge(part);
  }
  for (const auto& [id, thread] : other.threads) {
    Thread& own = into.threads[id];
    if (own.name.empty()) own.name = thread.name;
    own.ended += thread.ended;
    own.recorded += thread.recorded;
  }
  into.idle += other.idle;
}

void write(base::Table& table, std::int32_t rank, const Parts& parts, Nanos idle, std::size_t top) {
  const bool with_kind = table.width() == kOperatorColumns.size();
  std::vector<std::pair<const Key*, const Part*>> lines;
  lines.reserve(parts.size());
  for (const auto& [key, part] : parts) lines.emplace_back(&key, &part);
  std::ranges::stable_sort(lines, std::ranges::greater{},
                           [](const auto& line) { return line.second->idle; });
  const auto add = [&](const Cell& text, const Cell& kind, const Part& part) {
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
  Part rest;
  for (const auto& [key, part] : std::span(lines).subspan(shown)) rest.merge(*part);
  add(Null{}, Null{}, rest);
}

Answer run(const RunView& view, const Options& options) {
  const Within within = within_of(options);
  const auto top = static_cast<std::size_t>(options.count("top"));
  const auto partials =
      per_window<Rank>(view, [&](const WindowView& window) { return compute(window, within); });
  std::map<std::int32_t, Rank> ranks;
  for (std::size_t w = 0; w < partials.size(); ++w) {
    merge(ranks[view.windows[w].rank], partials[w]);
  }
  Answer answer;
  for (const base::TableShape& shape : kTables) answer.tables.emplace_back(shape);
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
    answer.remarks.emplace_back(
        "No Python frames were recorded while a GPU waited: profile with with_stack=True to see "
        "them.");
  }
  return answer;
}

}  // namespace

const Analysis kCpu{
    .name = "cpu",
    .title = "Host while the GPU waits",
    .question = "What did the host do while the GPU had nothing to do?",
    .parameters = kParameters,
    .tables = kTables,
    .run = run,
};

}  // namespace stepscope::analysis
