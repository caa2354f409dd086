// Reads a trace of Kineto, from its text to finished columns.
#include "ingest/kineto/kineto.h"

#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/each_note.h"
#include "base/parallel.h"
#include "ingest/kineto/document.h"
#include "ingest/kineto/feed.h"
#include "ingest/kineto/header.h"
#include "ingest/kineto/source_text.h"
#include "ingest/kineto/text.h"
#include "trace/builder.h"

namespace stepscope::ingest::kineto {
namespace {

using base::Note;

// A file of which nothing could be read is not a trace with a loss: it is something else.
base::Status check_has_events(const Document& document, const std::string& path) {
  base::ImportLog log = document.log;
  bool any = false;
  for (const trace::Batch& batch : document.events.batches) {
    log.merge(batch.log);
    any |= !batch.events.empty() || !batch.flows.empty() || !batch.labels.empty();
  }
  if (any || !log.lost_data()) return base::Done{};
  std::string first;
  base::for_each_note(log, base::Severity::kDataLoss,
                      [&](Note, const base::NoteInfo& about, const auto& entry) {
                        if (!first.empty()) return;
                        first = fmt::format(
                            "{}:{}: no event could be read ({}); expected a list of objects with "
                            "\"ph\" and \"ts\"",
                            path, entry.offset, about.meaning);
                      });
  return base::fail(base::Code::kFormat, std::move(first));
}

}  // namespace

int sniff(std::string_view first_bytes) {
  const std::size_t at = first_bytes.find_first_not_of(" \t\r\n\xef\xbb\xbf");
  if (at == std::string_view::npos) return 0;
  if (first_bytes[at] != '{' && first_bytes[at] != '[') return 0;
  const bool speaks_our_language = first_bytes.find("\"traceEvents\"") != std::string_view::npos ||
                                   first_bytes.find("\"ph\"") != std::string_view::npos ||
                                   first_bytes.find("\"schemaVersion\"") != std::string_view::npos;
  return speaks_our_language ? 100 : 10;
}

base::Result<trace::Trace> read(std::unique_ptr<bytes::ByteSource> source,
                                const ReadOptions& options) {
  const base::KeepThreads keep;  // from reading to the last link
  const std::string path = source->name();
  TextFeed feed(std::move(source), options.block_bytes);
  SCOPE_TRY(Document document, DocumentReader(feed, options).read());
  SCOPE_TRY(feed.finish());
  SCOPE_TRY(check_has_events(document, path));
  if (!document.header.base_time_ns) document.log.add(Note::kWithoutBaseTime);

  trace::BuildInput input;
  input.shards = std::move(document.events.shards);
  input.batches = std::move(document.events.batches);
  input.has_discarded = document.events.has_discarded;
  input.header = std::move(document.header);
  input.log = std::move(document.log);
  input.source = std::make_shared<FileText>(path, feed.source().encoding(),
                                            feed.source().seek_index(), feed.kept());
  input.decode = decode;
  input.normalize = mend;
  input.threads = options.threads;
  input.step_pattern = options.step_pattern;
  base::Result<trace::Trace> built = trace::TraceBuilder(std::move(input)).build();
  if (!built) return base::fail(built.error().code, path + ": " + built.error().message);
  return built;
}

}  // namespace stepscope::ingest::kineto
