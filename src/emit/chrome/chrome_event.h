// One event in Chrome's JSON: its own text with exact times and valid JSON, so that no argument is
// lost; or, where that text cannot be had, what the columns know of it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "emit/json/json_copier.h"
#include "emit/json/json_text.h"
#include "emit/redaction/texts.h"
#include "trace/header.h"
#include "trace/trace.h"

namespace stepscope::emit {

// Appends a pid or tid: as a number when it is one. What only looks like one ("007") stays text:
// JSON has no such number, and a reader that made it a 7 would have another track.
void append_place(std::string& out, const Texts& texts, const std::string& text, bool is_number);
void append_track(std::string& out, const Texts& texts, const trace::Track& track);

class ChromeEvents {
 public:
  ChromeEvents(const trace::Trace& trace, const Texts& texts, const Redactor* redactor)
      : trace_(trace), texts_(texts), redactor_(redactor), copier_(scratch_, redactor) {}

  // Appends the event; false when it had to be made from columns.
  bool append_event(std::string& out, trace::Row row);
  void append_flow(std::string& out, std::uint32_t index) const;

  // What an asynchronous end must repeat of its begin, as JSON values; empty when not given.
  struct Identity {
    std::string category, name, pid, tid, id, id2, scope;

    // May the end stand in another process?
    bool is_global() const { return id.empty() && id2.find("\"global\"") != std::string::npos; }
  };
  // Of the asynchronous span that append_event wrote last.
  const Identity& identity() const { return identity_; }
  // Appends the event that ends it: on its own track, or on another one of its process.
  void append_async_end(std::string& out, trace::Row row, const Identity& identity,
                        const trace::Track* elsewhere) const;

 private:
  struct Seen {
    bool time = false, duration = false, phase = false;
  };

  bool rewrite(std::string_view text, trace::Row row);
  std::size_t member(std::string_view text, std::size_t at, trace::Row row, Seen& seen);
  void settle_value(std::string_view key, std::size_t value_at, trace::Row row, Seen& seen);
  void from_column(std::string_view key, std::size_t value_at, trace::Row row);
  void remember(std::string_view key, std::string_view json);
  void append_missing(trace::Row row, const Seen& seen);
  void append_phase(trace::Row row, std::string_view original);
  void append_duration(trace::Row row, std::string_view original);
  void make_from_columns(trace::Row row);

  bool is_open_span(trace::Row row) const {
    return trace_.phase()[row] == trace::Phase::kSpan &&
           (trace_.flags()[row] & trace::kUnclosed) != 0;
  }

  const trace::Trace& trace_;
  const Texts& texts_;
  const Redactor* redactor_;
  std::string scratch_;  // the event being written
  JsonCopier copier_;
  bool first_member_ = true;
  Identity identity_;
};

// The arguments of an event from its columns, under the names Kineto gives them.

// Appends a member "args", unless there are none.
void append_args(Members& event, const trace::Trace& trace, const Texts& texts, trace::Row row);

// Everything of a Chrome file that stands before its first event.

class Redactor;

// Ends with the bracket that opens the list of events.
void append_chrome_header(std::string& out, const trace::Header& header, const Redactor* redactor);

}  // namespace stepscope::emit
