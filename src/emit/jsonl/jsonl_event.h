// One event or flow as a line of JSONL. Which key means what: docs/formats/jsonl.md.
#pragma once

#include <cstdint>
#include <string>

#include "emit/json/json_text.h"
#include "emit/redaction/texts.h"
#include "trace/trace.h"

namespace stepscope::emit {

// The first line of a window: what the file says about itself, its tracks and its steps.

struct WindowName {
  std::int32_t rank;
  std::uint32_t window;
};

void append_header(std::string& out, const trace::Trace& trace, WindowName name,
                   const Texts& texts);

class JsonlEvents {
 public:
  JsonlEvents(const trace::Trace& trace, WindowName name, const Texts& texts)
      : trace_(trace), name_(name), texts_(texts) {}

  void append_event(std::string& out, trace::Row row) const;
  void append_flow(std::string& out, std::uint32_t index) const;

 private:
  void head(Members& members, std::uint32_t ordinal, std::string_view phase) const;
  void position(Members& members, std::uint32_t track, base::Nanos start) const;
  void flags(Members& members, trace::Row row) const;
  void reference(Members& members, std::string_view key, trace::Row row) const;
  void string(Members& members, std::string_view key, base::StringId id) const;
  void inputs(Members& members, trace::SignatureId id) const;

  // One function per side table; each writes nothing when the row is not in it.
  void calls(Members& members, trace::Row row) const;
  void origin(Members& members, trace::Row row) const;
  void kernel(Members& members, trace::Row row) const;
  void copy(Members& members, trace::Row row) const;
  void sync(Members& members, trace::Row row) const;
  void memory(Members& members, trace::Row row) const;
  void collective(Members& members, trace::Row row) const;
  void counters(Members& members, trace::Row row) const;
  void forward(Members& members, trace::Row row) const;

  const trace::Trace& trace_;
  WindowName name_;
  const Texts& texts_;
};

}  // namespace stepscope::emit
