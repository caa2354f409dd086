// The table of formats, and the choice among them.

#include <array>

#include <fmt/format.h>

#include "ingest/kineto/kineto.h"
#include "ingest/reading.h"

namespace stepscope::ingest {
namespace {

constexpr std::array kFormats = std::to_array<Format>({
    {"kineto", kineto::sniff, kineto::read},
});

}  // namespace

base::Result<trace::Trace> read(std::unique_ptr<bytes::ByteSource> source,
                                const ReadOptions& options) {
  // One format so far: it reads what it can and says what is wrong with the rest.
  return kFormats.front().read(std::move(source), options);
}

}  // namespace stepscope::ingest
