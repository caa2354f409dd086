// Walks the blocks of a recording and notes damaged ones.
#include "ingest/scope/blocks.h"

#include <vector>

#include <fmt/format.h>

namespace stepscope::ingest::scope {
namespace {

constexpr std::size_t kReadBytes = std::size_t{1} << 20;

}  // namespace

base::Status for_each_block(bytes::ByteSource& source, const ReadOptions& options,
                            wire::BlockReader& blocks,
                            const std::function<void(const wire::BlockView&)>& take) {
  std::vector<char> window(kReadBytes);
  while (true) {
    if (options.stop != nullptr && options.stop->load(std::memory_order_relaxed)) {
      return base::fail(base::Code::kCancelled, source.name() + ": stopped");
    }
    SCOPE_TRY(const std::size_t count, source.read(window));
    if (count == 0) blocks.finish();
    blocks.add({window.data(), count});
    while (const auto block = blocks.next()) take(*block);
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

void note_damage(const wire::BlockReader& blocks, std::uint64_t end, base::ImportLog& log) {
  const std::uint64_t damaged = blocks.skipped_bytes() - blocks.cut_bytes();
  if (damaged > 0) {
    log.add(base::Note::kUnreadableEvent, blocks.first_skip(),
            fmt::format("{} bytes between blocks", damaged));
  }
  if (blocks.cut_bytes() > 0) {
    log.add(base::Note::kTruncated, end - blocks.cut_bytes(),
            fmt::format("{} bytes of a block", blocks.cut_bytes()));
  }
}

}  // namespace stepscope::ingest::scope
