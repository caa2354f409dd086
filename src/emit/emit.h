// Takes a run elsewhere: JSONL (everything we know of every event, for comparisons), Chrome/Kineto
// JSON (reads back into the same tables) and Perfetto's protobuf format. All of them stream: text
// goes to the sink in pieces of some 64 KB, and no more than that is ever held.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "base/result.h"
#include "trace/run.h"

namespace stepscope::emit {

class Redactor;  // emit/redact.h

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

struct Options {
  const Redactor* redactor = nullptr;  // names of files, hosts and users are hashed when set
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
