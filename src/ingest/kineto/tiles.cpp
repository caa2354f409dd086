// Blocks of a plain file that threads fetch side by side.
#include "ingest/kineto/tiles.h"

#include <algorithm>
#include <cstring>

#include "ingest/kineto/event_starts.h"
#include "ingest/kineto/fast.h"

namespace stepscope::ingest::kineto {
namespace {

constexpr std::uint64_t kPage = 4096;
// Read beyond a step at once: the next event begins there, unless one is unusually long.
constexpr std::uint64_t kLookAhead = kPage;
static_assert(kLookAhead >= kGlimpse);
constexpr std::uint64_t kMostLookAhead = std::uint64_t{8} << 20;

}  // namespace

Tiles::Tiles(TextFeed& feed)
    : feed_(feed),
      from_(feed.offset()),
      step_(feed.block_bytes()),
      size_(std::max(from_, feed.source().file_size().value_or(0))),
      // Whole pages are copied faster than parts of two.
      origin_(step_ % kPage == 0 ? from_ / kPage * kPage : from_),
      count_(std::max<std::uint64_t>((size_ - origin_ + step_ - 1) / step_, 1)) {}

std::uint64_t Tiles::begin_of(std::uint64_t number) const {
  return number == 0 ? from_ : std::min(origin_ + number * step_, size_);
}

base::Result<Block> Tiles::fetch(std::uint64_t number, std::uint32_t reader) const {
  Block block = feed_.take(step_ + kLookAhead, reader);
  block.text_offset = begin_of(number);
  SCOPE_TRY(read_to(begin_of(number + 1) + kLookAhead, block, reader));
  const char* const first = number == 0 ? block.begin() : start_in(number, block);
  if (first == nullptr) {
    block.size = 0;
  } else {
    block.drop_front(static_cast<std::size_t>(first - block.begin()));
    SCOPE_TRY(end_at_next(number + 1, block, reader));
  }
  std::memset(block.end(), 0, kPadding);
  return block;
}

// Cuts the block where the one that begins in `step`, or in a later one, begins.
base::Status Tiles::end_at_next(std::uint64_t step, Block& block, std::uint32_t reader) const {
  std::uint64_t ahead = kLookAhead;
  while (step < count_) {
    const char* const next = start_in(step, block);
    if (next != nullptr) {
      block.size = static_cast<std::size_t>(next - block.begin());
      return base::Done{};
    }
    if (decided_to(block) >= begin_of(step + 1)) {
      ++step;
      continue;
    }
    if (block.size >= kLongestEvent) {
      block.cut = true;
      return base::Done{};
    }
    ahead = std::min(2 * ahead, kMostLookAhead);
    SCOPE_TRY(read_to(block.text_offset + block.size + ahead, block, reader));
  }
  block.ends = true;
  return base::Done{};
}

// Up to where it is certain which of the text at hand begins an event.
std::uint64_t Tiles::decided_to(const Block& block) const {
  const std::uint64_t held = block.text_offset + block.size;
  return held == size_ ? size_ : held - std::min<std::uint64_t>(kGlimpse, block.size);
}

const char* Tiles::start_in(std::uint64_t step, const Block& block) const {
  const std::uint64_t from = std::max(begin_of(step), block.text_offset);
  const std::uint64_t until = std::min(begin_of(step + 1), decided_to(block));
  if (from >= until) return nullptr;
  const char* const begin = block.begin() + (from - block.text_offset);
  const char* const known =
      first_event_start(begin, begin + (until - from), block.end(), Start::kKnown);
  if (known != nullptr || until < begin_of(step + 1)) return known;
  return first_event_start(begin, begin + (until - from), block.end(), Start::kAny);
}

// More text after what the block holds, up to this place or the end.
base::Status Tiles::read_to(std::uint64_t text_offset, Block& block, std::uint32_t reader) const {
  const auto size = static_cast<std::size_t>(std::min(text_offset, size_) - block.text_offset);
  if (block.room() < size) feed_.enlarge(block, size, reader);
  SCOPE_TRY(
      feed_.source().read_at(block.text_offset + block.size, {block.end(), size - block.size}));
  block.size = size;
  return base::Done{};
}

}  // namespace stepscope::ingest::kineto
