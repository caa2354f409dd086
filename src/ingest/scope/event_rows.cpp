// Collects the rows of a recording's events in batches for the trace builder.
#include <array>
#include <utility>

#include "ingest/scope/assembly.h"

namespace stepscope::ingest::scope {
namespace {

// Few enough to stay in the cache until they are packed.
constexpr std::size_t kRowsPerBatch = std::size_t{1} << 14;
constexpr std::uint64_t kBytesPerBatch = std::uint64_t{1} << 31;  // offsets in it have 32 bits

constexpr std::array<std::string_view, 3> kCategories = {"user_annotation", "log", "counter"};

}  // namespace

void EventRows::begin_block(std::uint64_t offset) {
  const bool full =
      shard_->events.size() >= kRowsPerBatch || offset - batch_offset_ > kBytesPerBatch;
  if (in_batch_ && full) end_batch();
  if (!in_batch_) {
    shard_->begin(offset);
    batch_offset_ = offset;
    in_batch_ = true;
  }
  text_at_ = static_cast<std::uint32_t>(offset - batch_offset_);
}

void EventRows::end_batch() {
  if (in_batch_) batches_.push_back(shard_->finish());
  in_batch_ = false;
}

const EventRows::Category& EventRows::new_category(RowCategory which) {
  Category& made = categories_[static_cast<std::size_t>(which)];
  made.id = shard_->category(kCategories[static_cast<std::size_t>(which)], text_at_);
  made.kind =
      which == RowCategory::kCounter ? trace::Kind::kCounter : shard_->category_kind(made.id);
  made.known = true;
  return made;
}

std::uint32_t EventRows::track(std::string_view pid, std::string_view tid, std::string_view name) {
  const std::uint32_t track = shard_->track(pid, tid, text_at_);
  shard_->labels.push_back({track, trace::LabelRow::What::kThreadName, intern(name), 0});
  return track;
}

void EventRows::give_to(trace::BuildInput& input) {
  input.shards.push_back(std::move(shard_));
  input.batches = std::move(batches_);
}

}  // namespace stepscope::ingest::scope
