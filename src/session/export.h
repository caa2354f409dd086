// A run on its way to other tools: which files an export makes, and the text of each.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "emit/emit.h"
#include "session/analyze.h"
#include "trace/run.h"

namespace stepscope::session {

enum class ExportFormat : std::uint8_t { kChrome, kPerfetto, kJsonl };

struct ExportOptions {
  ExportFormat format = ExportFormat::kChrome;
  bool redact = false;
  std::string redact_key;      // a passphrase: the same hashes in every export; empty: random
  bool with_counters = false;  // queue lengths, rates, utilisation, memory; not for JSONL
  unsigned threads = 1;
};

// The run must outlive the export.
class Export {
 public:
  static base::Result<Export> prepare(const trace::Run& run, const ExportOptions& options);
  Export(Export&&) noexcept;
  ~Export();

  std::size_t files() const;                      // one, or one per window for Chrome's format
  std::string file_name(std::size_t file) const;  // "rank00000_window0.json"
  base::Result<emit::Written> write(std::size_t file, const emit::Sink& sink) const;

 private:
  Export(const trace::Run& run, ExportFormat format);

  struct Place {
    std::int32_t rank;
    std::size_t number;
    const trace::Window* window;
  };

  const trace::Run* run_;
  ExportFormat format_;
  std::vector<Place> windows_;
  std::unique_ptr<emit::Redactor> redactor_;
  std::vector<std::vector<emit::CounterSeries>> counters_;  // by window, or none
};

// What happens over time, computed from a run for viewers that cannot: lengths of queues, rates of
// copies, utilisation, memory.

enum class MemorySeries : std::uint8_t { kInclude, kLeaveOut };

// One list per window, in the order of the run. What the trace has under the same name is left out.
base::Result<std::vector<std::vector<emit::CounterSeries>>> counter_series(const trace::Run& run,
                                                                           MemorySeries memory,
                                                                           unsigned threads);
// The same with a study of all of the run at hand.
base::Result<std::vector<std::vector<emit::CounterSeries>>> counter_series(const trace::Run& run,
                                                                           const Study& study,
                                                                           MemorySeries memory);

}  // namespace stepscope::session
