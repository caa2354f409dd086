#include "ingest/scope/scope.h"

#include <vector>

#include <fmt/format.h>

#include "ingest/scope/assembly.h"
#include "wire/reader.h"

namespace stepscope::ingest::scope {
namespace {

constexpr std::size_t kReadBytes = std::size_t{1} << 20;

base::Status take_all(bytes::ByteSource& source, const ReadOptions& options,
                      wire::BlockReader& blocks, Assembly& assembly) {
  std::vector<char> window(kReadBytes);
  while (true) {
    if (options.stop != nullptr && options.stop->load(std::memory_order_relaxed)) {
      return base::fail(base::Code::kCancelled, source.name() + ": stopped");
    }
    SCOPE_TRY(const std::size_t count, source.read(window));
    if (count == 0) blocks.finish();
    blocks.add({window.data(), count});
    while (const auto block = blocks.next()) assembly.take(*block);
    if (options.progress) options.progress(source.file_position());
    if (blocks.wrong_version()) {
      return base::fail(base::Code::kUnsupported,
                        source.name() + ": recorded by a newer stepscope than this one");
    }
    if (blocks.wrong_start()) {
      return base::fail(base::Code::kFormat,
                        source.name() + ":0: not a recording: it does not begin like one");
    }
    if (count == 0) return base::Done{};
  }
}

}  // namespace

int sniff(std::string_view first_bytes) { return wire::is_scope_file(first_bytes) ? 100 : 0; }

base::Result<trace::Trace> read(std::unique_ptr<bytes::ByteSource> source,
                                const ReadOptions& options) {
  wire::BlockReader blocks;
  Assembly assembly;
  SCOPE_TRY(take_all(*source, options, blocks, assembly));
  if (!assembly.has_process()) {
    return base::fail(base::Code::kFormat,
                      source->name() + ": the recording holds nothing: not even who made it");
  }
  const std::uint64_t damaged = blocks.skipped_bytes() - blocks.cut_bytes();
  if (damaged > 0) {
    assembly.log().add(base::Note::kUnreadableEvent, blocks.first_skip(),
                       fmt::format("{} bytes between blocks", damaged));
  }
  if (blocks.cut_bytes() > 0) {
    assembly.log().add(base::Note::kTruncated, source->text_position() - blocks.cut_bytes(),
                       fmt::format("{} bytes of a block", blocks.cut_bytes()));
  }
  assembly.finish();
  trace::BuildInput input = assembly.build_input(source->name());
  input.threads = options.threads;
  input.step_pattern = options.step_pattern;
  base::Result<trace::Trace> built = trace::TraceBuilder(std::move(input)).build();
  if (!built) {
    return base::fail(built.error().code, source->name() + ": " + built.error().message);
  }
  return built;
}

}  // namespace stepscope::ingest::scope
