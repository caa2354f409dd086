// The table of formats, and the choice among them.

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "bytes/source_around.h"
#include "ingest/damage.h"
#include "ingest/kineto/kineto.h"
#include "ingest/memory_json/memory_json.h"
#include "ingest/other_files.h"
#include "ingest/pickle/pickle.h"
#include "ingest/reading.h"
#include "ingest/scope/scope.h"
#include "ingest/system/system.h"

namespace stepscope::ingest {
namespace {

template <auto kRead>
base::Result<Document> as_document(std::unique_ptr<bytes::ByteSource> source,
                                   const ReadOptions& options) {
  SCOPE_TRY(auto document, kRead(std::move(source), options));
  return Document(std::move(document));
}

constexpr std::array kFormats = std::to_array<Format>({
    {"kineto", kineto::sniff, as_document<kineto::read>},
    {"scope", scope::sniff, as_document<scope::read>},
    {"scope-system", system::sniff, as_document<system::read>},
    {"memory-snapshot", pickle::sniff, as_document<pickle::read>},
    {"memory-timeline", memory_json::sniff_timeline, as_document<memory_json::read_timeline>},
    {"memory-stats", memory_json::sniff_stats, as_document<memory_json::read_stats>},
});

// Gives back the bytes that the choice was made by.
class PeekedSource final : public bytes::SourceAround {
 public:
  PeekedSource(std::unique_ptr<bytes::ByteSource> source, std::string head)
      : SourceAround(std::move(source)), head_(std::move(head)) {}

  base::Result<std::size_t> read(std::span<char> into) override {
    if (given_ == head_.size()) return inner().read(into);
    const std::size_t count = std::min(into.size(), head_.size() - given_);
    std::memcpy(into.data(), head_.data() + given_, count);
    given_ += count;
    return count;
  }
  void skip_to(std::uint64_t text_offset) override {
    given_ = head_.size();
    inner().skip_to(text_offset);
  }
  std::uint64_t text_position() const override {
    return inner().text_position() - (head_.size() - given_);
  }

 private:
  std::string head_;
  std::size_t given_ = 0;
};

}  // namespace

const Format& format_of(std::string_view first_bytes) {
  const Format* best = &kFormats.front();
  int most = 0;
  for (const Format& format : kFormats) {
    const int certainty = format.sniff(first_bytes);
    if (certainty <= most) continue;
    best = &format;
    most = certainty;
  }
  return *best;
}

base::Result<Document> read(std::unique_ptr<bytes::ByteSource> source, const ReadOptions& options) {
  std::string head(kSniffedBytes, '\0');
  std::size_t filled = 0;
  while (filled < head.size()) {
    SCOPE_TRY(const std::size_t got, source->read(std::span(head).subspan(filled)));
    if (got == 0) break;
    filled += got;
  }
  head.resize(filled);
  const std::string name = source->name();
  if (const std::string why = nothing_to_read(head, *source); !why.empty()) {
    return base::fail(base::Code::kFormat, name + ": " + why);
  }
  if (const std::string what = other_file(head); !what.empty()) {
    return base::fail(base::Code::kUnsupported, name + ": " + what);
  }
  const Format& format = format_of(head);
  // Known already where the text is short: what is missing of it then is why it cannot be read.
  const std::string damage = damage_text(*source);
  base::Result<Document> document =
      format.read(std::make_unique<PeekedSource>(std::move(source), std::move(head)), options);
  if (document || damage.empty() || document.error().code != base::Code::kFormat) return document;
  const std::string& message = document.error().message;
  if (message.ends_with(damage)) return document;
  return base::fail(base::Code::kFormat, message + "; " + damage);
}

}  // namespace stepscope::ingest
