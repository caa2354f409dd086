// Chrome/Kineto JSON: what is read back gives the same tables.

#include <queue>

#include "emit/chrome_event.h"
#include "emit/chrome_header.h"
#include "emit/chrome_labels.h"
#include "emit/emit.h"
#include "emit/file_order.h"
#include "emit/output.h"

namespace stepscope::emit {
namespace {

class ChromeWriter {
 public:
  ChromeWriter(const trace::Trace& trace, Output& out, Written& written, const Options& options)
      : trace_(trace),
        out_(out),
        written_(written),
        texts_(trace, options.redactor),
        events_(trace, texts_, options.redactor),
        labels_(trace, texts_) {}

  bool row(trace::Row row) {
    start();
    labels_.saw(trace_.track()[row]);
    if (!events_.append_event(out_.text(), row)) ++written_.without_text;
    const bool is_open = (trace_.flags()[row] & trace::kUnclosed) != 0;
    if (trace_.phase()[row] == trace::Phase::kAsyncSpan && !is_open) {
      ends_.push({trace_.end(row), row, events_.async_end(row)});
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
    if (!ends_.empty()) {
      append_end();
    } else if (!trace_.tracks().empty()) {
      start();
      labels_.append_filler(out_.text());
    }
    return go_on();
  }

  void finish() {
    while (!ends_.empty() && go_on()) append_end();
    while (!labels_.empty() && go_on()) {
      start();
      labels_.append_next(out_.text());
    }
  }

 private:
  struct End {
    base::Nanos time;
    trace::Row row;
    std::string json;
    // The earliest first; of those that end together the one that began last.
    bool operator<(const End& other) const {
      return time != other.time ? time > other.time : row < other.row;
    }
  };

  void start() {
    out_.text() += is_first_ ? "\n" : ",\n";
    is_first_ = false;
  }
  void append_end() {
    start();
    out_.text() += ends_.top().json;
    ends_.pop();
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
  out.text() += header.bare_array ? "\n]\n" : "\n]}\n";
  SCOPE_TRY([[maybe_unused]] const base::Done done, out.finish());
  return written;
}

}  // namespace stepscope::emit
