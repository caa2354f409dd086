// Walks host threads through the stretches in which a device had nothing to do.
#include "analysis/idle/idle_hosts.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "analysis/host/host_time.h"

namespace stepscope::analysis {
namespace {

using base::Nanos;
using trace::Kind;
using trace::Row;

constexpr std::uint32_t kIdleHostsNone = 0xffffffff;

bool takes_part(const trace::Trace& trace, Row row) {
  const Kind kind = trace.kind()[row];
  return trace.phase()[row] == trace::Phase::kSpan && kind != Kind::kOverhead &&
         kind != Kind::kProfiler && (trace.flags()[row] & trace::kFarTime) == 0;
}

// Numbers of Python functions by their names; many names differ in an address only.
class Frames {
 public:
  Frames(const trace::Trace& trace, std::vector<std::string>& texts)
      : trace_(&trace), texts_(&texts), known_(trace.strings().size(), kIdleHostsNone) {}
  std::uint32_t number(base::StringId name) {
    if (known_[name] == kIdleHostsNone) {
      const auto [found, fresh] = numbers_.try_emplace(without_addresses(trace_->text(name)),
                                                       static_cast<std::uint32_t>(texts_->size()));
      if (fresh) texts_->push_back(found->first);
      known_[name] = found->second;
    }
    return known_[name];
  }

 private:
  const trace::Trace* trace_;
  std::vector<std::string>* texts_;
  std::vector<std::uint32_t> known_;  // by name
  std::unordered_map<std::string, std::uint32_t> numbers_;
};

// Walks one thread and the stretches that ask about it, both by start.
class Walk {
 public:
  Walk(const WindowView& window, const StepMarks& marks, const std::vector<IdleStretch>& stretches,
       const std::vector<std::uint32_t>& asked, Frames& frames, PairNumbers& paths,
       const std::function<void(const HostMoment&)>& show)
      : trace_(window.trace),
        marks_(&marks),
        stretches_(&stretches),
        asked_(&asked),
        frames_(&frames),
        paths_(&paths),
        show_(&show) {}

  void run(const trace::Track& track) {
    for (Row row = track.begin; row < track.end; ++row) {
      if (!takes_part(*trace_, row)) continue;
      move_to(trace_->start()[row]);
      if (trace_->kind()[row] == Kind::kPython) {
        const base::StringId name = trace_->name()[row];
        if (name != base::kNoString) open_frame(trace_->end(row), frames_->number(name));
      } else if (!marks_->contains(row)) {
        named_.push_back({trace_->end(row), row});
      }
    }
    if (!asked_->empty()) move_to((*stretches_)[asked_->back()].time.end);
  }

 private:
  struct Named {
    Nanos end;
    Row row;
  };
  struct Frame {
    Nanos end;
    Nanos next_end;  // of it and of those further out
    std::uint32_t frame, path;
  };

  void open_frame(Nanos end, std::uint32_t frame) {
    const std::uint32_t outer = python_.empty() ? kIdleHostsNone : python_.back().path;
    const Nanos next = python_.empty() ? end : std::min(end, python_.back().next_end);
    python_.push_back({end, next, frame, paths_->number(outer, frame)});
  }

  // Spans of one thread may end in another order than they should, by clock noise.
  void close() {
    while (!named_.empty() && named_.back().end <= at_) named_.pop_back();
    while (!python_.empty() && python_.back().end <= at_) python_.pop_back();
    if (python_.empty() || python_.back().next_end > at_) return;
    const std::vector<Frame> all = std::move(python_);
    python_.clear();
    for (const Frame& frame : all) {
      if (frame.end > at_) open_frame(frame.end, frame.frame);
    }
  }

  // The innermost span is the latest begun that has not ended.
  void move_to(Nanos time) {
    close();
    while (at_ < time) {
      Nanos until = time;
      if (!named_.empty()) until = std::min(until, named_.back().end);
      if (!python_.empty()) until = std::min(until, python_.back().next_end);
      spend(until);
      at_ = until;
      close();
    }
  }

  // The thread was in the same place from at_ to `until`.
  void spend(Nanos until) {
    for (; next_ < asked_->size(); ++next_) {
      const std::uint32_t index = (*asked_)[next_];
      const Interval& idle = (*stretches_)[index].time;
      const Interval part{std::max(idle.start, at_), std::min(idle.end, until)};
      if (part.start < part.end) {
        HostMoment moment{.time = part, .stretch = index};
        if (!named_.empty()) moment.named = named_.back().row;
        if (!python_.empty()) {
          moment.frame = python_.back().frame;
          moment.path = python_.back().path;
        }
        (*show_)(moment);
      }
      if (idle.end > until) break;
    }
  }

  const trace::Trace* trace_;
  const StepMarks* marks_;
  const std::vector<IdleStretch>* stretches_;
  const std::vector<std::uint32_t>* asked_;
  Frames* frames_;
  PairNumbers* paths_;
  const std::function<void(const HostMoment&)>* show_;
  std::vector<Named> named_;
  std::vector<Frame> python_;
  std::size_t next_ = 0;
  Nanos at_ = std::numeric_limits<Nanos>::min();
};

}  // namespace

std::string without_addresses(std::string_view frame) {
  constexpr std::string_view kAt = " at 0x";
  std::string out;
  while (true) {
    const std::size_t at = frame.find(kAt);
    out += frame.substr(0, at);
    if (at == std::string_view::npos) return out;
    frame.remove_prefix(at + kAt.size());
    const std::size_t end = frame.find_first_not_of("0123456789abcdefABCDEF");
    frame.remove_prefix(std::min(end, frame.size()));
  }
}

std::vector<IdleStretch> idle_stretches(const WindowView& window, const DeviceView& device,
                                        const Intervals& measured) {
  std::vector<IdleStretch> out;
  const trace::Trace& trace = *window.trace;
  std::size_t next = device.begin;
  std::uint32_t track = kIdleHostsNone;
  for (std::size_t i = device.begin; i < device.end && track == kIdleHostsNone; ++i) {
    const Row launch = window.work[i].launch;
    if (launch != trace::kNoRow) track = trace.track()[launch];
  }
  for (const Interval& time : subtract(measured, device.busy)) {
    while (next < device.end && window.work[next].start < time.end) {
      const Row launch = window.work[next].launch;
      if (launch != trace::kNoRow) track = trace.track()[launch];
      ++next;
    }
    IdleStretch stretch{.time = time, .track = track};
    // Where a step ends, the device may go on waiting: then nothing ended this one.
    if (next < device.end) {
      const Row launch = window.work[next].launch;
      if (launch != trace::kNoRow) stretch.track = trace.track()[launch];
      if (window.work[next].start == time.end) stretch.next = static_cast<std::uint32_t>(next);
    }
    out.push_back(stretch);
  }
  return out;
}

HostPlaces host_moments(const WindowView& window, const std::vector<IdleStretch>& stretches,
                        const std::function<void(const HostMoment&)>& show) {
  HostPlaces out;
  std::vector<std::vector<std::uint32_t>> asked(window.trace->tracks().size());
  for (std::uint32_t i = 0; i < stretches.size(); ++i) {
    if (stretches[i].track != kIdleHostsNone) {
      asked[stretches[i].track].push_back(i);
    } else {
      show({.time = stretches[i].time, .stretch = i});
    }
  }
  const StepMarks marks(*window.trace);
  Frames frames(*window.trace, out.frames);
  for (std::size_t t = 0; t < asked.size(); ++t) {
    if (asked[t].empty()) continue;
    Walk(window, marks, stretches, asked[t], frames, out.paths, show)
        .run(window.trace->tracks()[t]);
  }
  return out;
}

}  // namespace stepscope::analysis
