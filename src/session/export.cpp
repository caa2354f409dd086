#include "session/export.h"

#include <fmt/format.h>

#include "emit/redaction/redact.h"
#include "session/counters.h"

namespace stepscope::session {

Export::Export(const trace::Run& run, ExportFormat format) : run_(&run), format_(format) {
  for (const trace::RankTraces& rank : run.ranks) {
    for (std::size_t i = 0; i < rank.windows.size(); ++i) {
      windows_.push_back({rank.rank.value, i, &rank.windows[i]});
    }
  }
}
Export::Export(Export&&) noexcept = default;
Export::~Export() = default;

base::Result<Export> Export::prepare(const trace::Run& run, const ExportOptions& options) {
  Export result(run, options.format);
  // Chrome's form is copied from the text of a trace, and a recording has none.
  for (const Place& place : result.windows_) {
    if (options.format != ExportFormat::kChrome) break;
    if (!place.window->trace.is_recording()) continue;
    return base::fail(base::Code::kInvalidArgument,
                      fmt::format("{}: what stepscope.profile recorded cannot be written as Chrome "
                                  "JSON; perfetto and jsonl can hold it, or name the traces alone",
                                  place.window->source.path));
  }
  if (options.redact) {
    emit::RedactKey key = emit::redact_key_from(options.redact_key);
    if (options.redact_key.empty()) {
      SCOPE_TRY(key, emit::random_redact_key());
    }
    result.redactor_ = std::make_unique<emit::Redactor>(key, run);
  }
  if (options.with_counters && options.format != ExportFormat::kJsonl) {
    // Perfetto's format draws the memory events as counters anyway.
    const auto memory = options.format == ExportFormat::kPerfetto ? MemorySeries::kLeaveOut
                                                                  : MemorySeries::kInclude;
    SCOPE_TRY(result.counters_, counter_series(run, memory, options.threads));
  }
  return result;
}

std::size_t Export::files() const { return format_ == ExportFormat::kChrome ? windows_.size() : 1; }

std::string Export::file_name(std::size_t file) const {
  switch (format_) {
    case ExportFormat::kPerfetto:
      return "run.perfetto-trace";
    case ExportFormat::kJsonl:
      return "run.jsonl";
    case ExportFormat::kChrome:
      break;
  }
  return fmt::format("rank{:05}_window{}.json", windows_[file].rank, windows_[file].number);
}

base::Result<emit::Written> Export::write(std::size_t file, const emit::Sink& sink) const {
  emit::Options options;
  options.redactor = redactor_.get();
  options.counters = counters_;
  switch (format_) {
    case ExportFormat::kPerfetto:
      return emit::write_perfetto(*run_, sink, options);
    case ExportFormat::kJsonl:
      return emit::write_jsonl(*run_, sink, options);
    case ExportFormat::kChrome:
      break;
  }
  if (!counters_.empty()) options.counters = options.counters.subspan(file, 1);
  return emit::write_chrome(windows_[file].window->trace, sink, options);
}

}  // namespace stepscope::session
