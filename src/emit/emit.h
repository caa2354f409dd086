// Takes a run elsewhere: JSONL (everything we know of every event, for comparisons), Chrome/Kineto
// JSON (reads back into the same tables) and Perfetto's protobuf format. All of them stream: text
// goes to the sink in pieces of some 64 KB, and no more than that is ever held.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "trace/run.h"

namespace stepscope::emit {

class Redactor;  // emit/redaction/redact.h

// Takes the next piece of the output. An error ends the export and is what it returns.
using Sink = std::function<base::Status(std::string_view)>;

// What an export wrote, and what it could not.
struct Written {
  std::uint64_t events = 0;
  // Chrome: events whose original text could not be read again; they have the arguments that
  // columns hold and no others.
  std::uint64_t without_text = 0;
  // Perfetto: events more than a day from the rest, which would hide the rest.
  std::uint64_t left_out = 0;
};

// A line over time that is no event of the trace but was computed from them.
struct CounterPoint {
  base::Nanos time = 0;  // from then on
  double value = 0;
};
struct CounterSeries {
  std::string name = {};    // with its unit: "GPU 0 utilisation (%)"
  std::uint32_t track = 0;  // of the trace; the line is drawn in its process
  std::vector<CounterPoint> points = {};
};

struct Options {
  const Redactor* redactor = nullptr;  // names of files, hosts and users are hashed when set
  // To be added, one list per window that is written; empty: none. Chrome's format and Perfetto's.
  std::span<const std::vector<CounterSeries>> counters = {};
};

// One JSON object a line: a header per window, then its events and flows by position in the file.
base::Result<Written> write_jsonl(const trace::Run& run, const Sink& sink,
                                  const Options& options = {});

// One window is one file: the caller opens a sink for each.
base::Result<Written> write_chrome(const trace::Trace& window, const Sink& sink,
                                   const Options& options = {});

// All ranks and windows in one file.
base::Result<Written> write_perfetto(const trace::Run& run, const Sink& sink,
                                     const Options& options = {});

}  // namespace stepscope::emit
