#include "analysis/idle/cpu_waits.h"

#include <string_view>
#include <utility>
#include <vector>

#include "analysis/idle/idle_hosts.h"
#include "analysis/name_sign.h"
#include "trace/step_names.h"

namespace stepscope::analysis {
namespace {

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

// The operator behind a piece of work, as a row; its launch where there is none.
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
      if (!steps.of(row)) recorded.add(trace.start()[row], trace.end(row));
    }
    if (!any) continue;
    HostThread& thread = out.threads[track.thread];
    thread.name = track.thread_name;
    thread.recorded += common(recorded.set(), idle);
  }
}

}  // namespace

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

}  // namespace stepscope::analysis
