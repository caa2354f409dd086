// Chrome/Kineto JSON: what is read back gives the same tables.

#include <algorithm>
#include <limits>
#include <optional>
#include <queue>

#include "emit/chrome/chrome_event.h"
#include "emit/chrome/chrome_labels.h"
#include "emit/emit.h"
#include "emit/json/json_text.h"
#include "emit/output.h"

namespace stepscope::emit {
namespace {

// Where the window ends, if no event that was closed says so.
std::optional<base::Nanos> hidden_end(const trace::Trace& trace) {
  constexpr base::Nanos kNever = std::numeric_limits<base::Nanos>::min();
  base::Nanos open = kNever;
  base::Nanos closed = kNever;
  for (trace::Row row = 0; row < trace.size(); ++row) {
    const std::uint8_t flags = trace.flags()[row];
    if ((flags & trace::kFarTime) != 0) continue;
    if ((flags & trace::kUnclosed) != 0) {
      open = std::max(open, trace.end(row));
      closed = std::max(closed, trace.start()[row]);
    } else {
      closed = std::max(closed, trace.end(row));
    }
  }
  if (open <= closed) return std::nullopt;
  return open;
}

class ChromeWriter {
 public:
  ChromeWriter(const trace::Trace& trace, Output& out, Written& written, const Options& options)
      : trace_(trace),
        out_(out),
        written_(written),
        texts_(trace, options.redactor),
        events_(trace, texts_, options.redactor),
        labels_(trace, texts_),
        window_end_(hidden_end(trace)) {}

  bool row(trace::Row row) {
    start();
    labels_.saw(trace_.track()[row]);
    if (!events_.append_event(out_.text(), row)) ++written_.without_text;
    const bool is_open = (trace_.flags()[row] & trace::kUnclosed) != 0;
    if (trace_.phase()[row] == trace::Phase::kAsyncSpan && !is_open) {
      ends_.push({trace_.end(row), row, events_.identity()});
    }
    ++written_.events;
    return go_on();
  }

  bool flow(std::uint32_t index) {
    start();
    labels_.saw(trace_.flows().track[index]);
    events_.append_flow(out_.text(), index);
    ++written_.events;
    return go_on();
  }

  // A position whose entry became no event of its own is used for what would otherwise move others.
  bool gap() {
    start();
    if (!append_end() && !append_window_end()) labels_.append_filler(out_.text());
    return go_on();
  }

  void finish() {
    labels_.saw_all();
    while ((window_end_ || !ends_.empty() || !labels_.empty()) && go_on()) gap();
  }

  // After everything else, so that no event changes its position.
  void counter(const CounterSeries& series) {
    for (const CounterPoint& point : series.points) {
      start();
      std::string& out = out_.text();
      out += R"({"ph":"C","cat":"stepscope_counter","name":)";
      append_string(out, series.name);
      out += ',';
      append_track(out, texts_, trace_.tracks()[series.track]);
      out += ",\"ts\":";
      append_micros(out, point.time);
      out += R"(,"args":{"value":)";
      append_float(out, point.value);
      out += "}}";
      ++written_.events;
      if (!go_on()) return;
    }
  }

 private:
  struct End {
    base::Nanos time;
    trace::Row row;
    ChromeEvents::Identity identity;
    // The earliest first; of those that end together the one that began last.
    bool operator<(const End& other) const {
      return time != other.time ? time > other.time : row < other.row;
    }
  };

  void start() {
    out_.text() += is_first_ ? "\n" : ",\n";
    is_first_ = false;
  }
  bool append_end() {
    if (ends_.empty()) return false;
    const End& end = ends_.top();
    const std::string& process = trace_.tracks()[trace_.track()[end.row]].process;
    const trace::Track* const elsewhere =
        labels_.take_introduction(end.identity.is_global() ? nullptr : &process);
    // Naming a track cannot wait; an end can.
    if (elsewhere == nullptr && labels_.must_introduce()) return false;
    events_.append_async_end(out_.text(), end.row, end.identity, elsewhere);
    ends_.pop();
    return true;
  }
  // What was never closed lasts to the end of the window, and that may have been set by an event
  // that left no row: another such event has to say it again.
  bool append_window_end() {
    if (!window_end_) return false;
    const trace::Track* const fresh = labels_.take_introduction(nullptr);
    if (fresh == nullptr && labels_.must_introduce()) return false;
    std::string& out = out_.text();
    out += R"({"ph":"e","cat":"stepscope_gap","id":"end of the window",)";
    append_track(out, texts_, fresh != nullptr ? *fresh : trace_.tracks()[labels_.last_track()]);
    out += ",\"ts\":";
    append_micros(out, *window_end_);
    out += '}';
    window_end_.reset();
    return true;
  }
  bool go_on() {
    out_.settle();
    return !out_.failed();
  }

  const trace::Trace& trace_;
  Output& out_;
  Written& written_;
  const Texts texts_;
  ChromeEvents events_;
  ChromeLabels labels_;
  std::priority_queue<End> ends_;  // of asynchronous spans that are open
  std::optional<base::Nanos> window_end_;
  bool is_first_ = true;
};

}  // namespace

base::Result<Written> write_chrome(const trace::Trace& window, const Sink& sink,
                                   const Options& options) {
  Output out(sink);
  Written written;
  const trace::Header& header = window.header();
  append_chrome_header(out.text(), header, options.redactor);
  ChromeWriter writer(window, out, written, options);
  FileOrder(window).walk(writer);
  writer.finish();
  if (!options.counters.empty()) {
    for (const CounterSeries& series : options.counters.front()) writer.counter(series);
  }
  out.text() += header.bare_array ? "\n]\n" : "\n]}\n";
  SCOPE_TRY([[maybe_unused]] const base::Done done, out.finish());
  return written;
}

}  // namespace stepscope::emit
