// The full dump: every column of every event, for comparisons between readers and between versions.

#include "emit/emit.h"
#include "emit/jsonl/jsonl_event.h"
#include "emit/output.h"

namespace stepscope::emit {
namespace {

struct Lines {
  const JsonlEvents& events;
  Output& out;
  Written& written;

  bool row(trace::Row row) {
    events.append_event(out.text(), row);
    return line();
  }
  bool flow(std::uint32_t index) {
    events.append_flow(out.text(), index);
    return line();
  }
  bool gap() { return true; }

 private:
  bool line() {
    out.text() += '\n';
    out.settle();
    ++written.events;
    return !out.failed();
  }
};

void write_window(const trace::Trace& trace, WindowName name, Output& out, Written& written,
                  const Options& options) {
  const Texts texts(trace, options.redactor);
  append_header(out.text(), trace, name, texts);
  out.text() += '\n';
  const JsonlEvents events(trace, name, texts);
  Lines lines{events, out, written};
  FileOrder(trace).walk(lines);
}

}  // namespace

base::Result<Written> write_jsonl(const trace::Run& run, const Sink& sink, const Options& options) {
  Output out(sink);
  Written written;
  for (const trace::RankTraces& rank : run.ranks) {
    for (std::uint32_t window = 0; window < rank.windows.size() && !out.failed(); ++window) {
      write_window(rank.windows[window].trace, {rank.rank.value, window}, out, written, options);
    }
  }
  SCOPE_TRY([[maybe_unused]] const base::Done done, out.finish());
  return written;
}

}  // namespace stepscope::emit
