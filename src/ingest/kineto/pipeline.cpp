// Reads the list of events on several threads, and takes it over in file order.
#include "ingest/kineto/pipeline.h"

#include <condition_variable>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <optional>

#include <fmt/format.h>

#include "base/parallel.h"
#include "ingest/kineto/scanner.h"
#include "ingest/kineto/tiles.h"

namespace stepscope::ingest::kineto {
namespace {

using Where = StretchEnd::Where;

struct Parsed {
  Block block;  // kept until it is certain that its events are events
  trace::Batch batch;
  StretchEnd end{};
  std::optional<base::Error> error;  // it could not be fetched; counts if the list goes on to it
  std::size_t tried = 0;  // the length of the text at its end from which no event could be read
  bool is_text = false;   // joined, and not read since: it has no batch
};

// Bytes for each byte of events that were read: their columns are made before they are given back.
constexpr std::uint64_t kToPutInOrder = 2;

bool has_row(const trace::Batch& batch) {
  return batch.events.size() + batch.flows.size() + batch.labels.size() > 0;
}

// Blocks that wait to be read beyond one for every thread, of text that only one can fetch at a
// time. Where whoever is free fetches, one is enough. Where one does so all the time, he should
// hardly ever have to read one himself, for then the others soon have nothing to do.
constexpr std::size_t kMostWaiting = 1;
constexpr std::size_t kMostWaitingForOne = 24;

// Blocks read before those in front of them were, for every thread.
constexpr std::uint64_t kMostAhead = 4;
// The same, and those that wait, in all, of text that only one can fetch: other programs may keep
// the thread that reads the first of them from it for long.
constexpr std::uint64_t kMostHeld = 64;

// What a thread holds while it reads is some MiB: more threads than these gain nothing and cost
// more than the text allows.
unsigned most_threads(const bytes::ByteSource& source) {
  constexpr std::uint64_t kTextOfAThread = std::uint64_t{64} << 20;
  constexpr unsigned kAnyway = 4;
  constexpr unsigned kPacked = 8;  // one at a time decompresses
  if (!source.reads_anywhere()) return kPacked;
  return kAnyway + static_cast<unsigned>(source.file_size().value_or(0) / kTextOfAThread);
}

class Pipeline {
 public:
  Pipeline(TextFeed& feed, const ReadOptions& options) : feed_(feed), options_(options) {
    if (feed.source().reads_anywhere()) tiles_.emplace(feed);
  }

  base::Result<EventList> run();

 private:
  struct Fetched {
    std::uint64_t number;
    Block block;
  };

  void work(std::uint32_t number);
  bool should_fetch(std::uint32_t reader) const;
  std::optional<Fetched> fetch(std::unique_lock<std::mutex>& lock, std::uint32_t reader);
  std::optional<Fetched> next_tile(std::unique_lock<std::mutex>& lock, std::uint32_t reader);
  bool is_stopped();
  std::optional<Fetched> next(std::unique_lock<std::mutex>& lock, std::uint32_t reader);
  Parsed parse(Block block, Scanner& scanner, trace::Shard& shard);
  void take_over(Scanner& scanner, trace::Shard& shard);
  void join(Parsed& first, Parsed& second, Scanner& scanner, trace::Shard& shard);
  void accept(Parsed& parsed);
  void stop_in_long_event(Parsed& last);
  void finish(const Parsed& last);
  void collect_rest();
  void fail(base::Error error);

  TextFeed& feed_;
  const ReadOptions& options_;
  // Where there are any, the thread that reads a block fetches it; none waits for another.
  std::optional<Tiles> tiles_;
  EventList list_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Fetched> waiting_;
  std::map<std::uint64_t, Parsed> parsed_;  // not yet taken over
  std::uint64_t next_fetch_ = 0;
  std::uint64_t next_accept_ = 0;
  bool fetching_ = false;
  std::uint32_t fetcher_ = 0;  // who fetched last
  bool fetched_all_ = false;
  bool done_ = false;
  std::uint64_t staged_bytes_ = 0;
  std::optional<base::Error> error_;
};

base::Result<EventList> Pipeline::run() {
  const unsigned threads = std::clamp(options_.threads, 1U, most_threads(feed_.source()));
  for (unsigned i = 0; i < threads; ++i) list_.shards.push_back(std::make_unique<trace::Shard>(i));
  base::on_threads(
      threads, [&](std::size_t number) { work(static_cast<std::uint32_t>(number)); },
      [&] {
        const std::lock_guard lock(mutex_);
        done_ = true;
        changed_.notify_all();
      });
  if (error_) return base::Failure{*error_};
  for (Fetched& fetched : waiting_) parsed_[fetched.number].block = std::move(fetched.block);
  if (list_.closed) collect_rest();
  // The feed has given nothing of all this; it goes on after it.
  if (tiles_)
    feed_.skip_to(list_.closed ? list_.rest_offset + list_.rest.size() : tiles_->text_size());
  return std::move(list_);
}

// What gzip looks back at is little, and goes to the next thread with less trouble than the text
// would. zstd looks back at megabytes, which lie in the cache of whoever decompressed them, and a
// pipe is read and kept in one place: who fetched last goes on, even if he reads a block in
// between, and another takes his place when hardly anything is left to read.
bool Pipeline::should_fetch(std::uint32_t reader) const {
  if (fetching_ || fetched_all_) return false;
  if (next_fetch_ >= next_accept_ + kMostHeld) return false;
  const std::size_t threads = list_.shards.size();
  if (threads == 1) return waiting_.empty();  // alone he gains nothing by fetching ahead
  if (feed_.source().encoding() == bytes::Encoding::kGzip) {
    return waiting_.size() < threads + kMostWaiting;
  }
  return waiting_.size() < (reader == fetcher_ ? threads + kMostWaitingForOne : threads);
}

void Pipeline::work(std::uint32_t number) {
  trace::Shard& shard = *list_.shards[number];
  Scanner scanner(shard, options_.reference_only ? Scanner::Ways::kReference : Scanner::Ways::kAll);
  std::unique_lock lock(mutex_);
  while (true) {
    std::optional<Fetched> fetched = tiles_ ? next_tile(lock, number) : next(lock, number);
    if (!fetched) {
      if (!done_) take_over(scanner, shard);
      return;
    }
    if (done_) {  // while it was fetched: it is after the list
      parsed_[fetched->number].block = std::move(fetched->block);
      return;
    }
    lock.unlock();
    Parsed parsed = parse(std::move(fetched->block), scanner, shard);
    lock.lock();
    parsed_.emplace(fetched->number, std::move(parsed));
    if (done_) return;
    take_over(scanner, shard);
    changed_.notify_all();
  }
}

// The block to read, or nothing when all are read. The first that waits: what a shard reads must
// come in the order of the file, or it would take a later place for the one where a name was first
// seen.
std::optional<Pipeline::Fetched> Pipeline::next(std::unique_lock<std::mutex>& lock,
                                                std::uint32_t reader) {
  while (true) {
    changed_.wait(lock, [&] {
      const bool exhausted = fetched_all_ && !fetching_ && waiting_.empty();
      return done_ || exhausted || should_fetch(reader) || !waiting_.empty();
    });
    if (done_) return std::nullopt;
    if (is_stopped()) return std::nullopt;
    std::optional<Fetched> block;
    if (should_fetch(reader)) {
      block = fetch(lock, reader);
      if (block) waiting_.push_back(std::move(*block));
      continue;
    }
    if (waiting_.empty()) return std::nullopt;  // the others are reading the last blocks
    block = std::move(waiting_.front());
    waiting_.pop_front();
    return block;
  }
}

std::optional<Pipeline::Fetched> Pipeline::next_tile(std::unique_lock<std::mutex>& lock,
                                                     std::uint32_t reader) {
  // What was read is held until it is certain: one thread must not run away from the others.
  const std::uint64_t ahead = kMostAhead * list_.shards.size();
  changed_.wait(lock, [&] { return done_ || next_fetch_ < next_accept_ + ahead; });
  if (done_ || next_fetch_ == tiles_->count() || is_stopped()) return std::nullopt;
  const std::uint64_t number = next_fetch_++;
  lock.unlock();
  base::Result<Block> block = tiles_->fetch(number, reader);
  lock.lock();
  if (!block) {
    parsed_[number].error = block.error();
    if (!done_) changed_.notify_all();
    return std::nullopt;
  }
  if (options_.progress) options_.progress(tiles_->begin_of(number + 1));
  return Fetched{number, std::move(*block)};
}

bool Pipeline::is_stopped() {
  if (options_.stop == nullptr || !options_.stop->load(std::memory_order_relaxed)) return false;
  fail({base::Code::kCancelled, feed_.source().name() + ": stopped"});
  return true;
}

std::optional<Pipeline::Fetched> Pipeline::fetch(std::unique_lock<std::mutex>& lock,
                                                 std::uint32_t reader) {
  fetching_ = true;
  fetcher_ = reader;
  lock.unlock();
  base::Result<std::optional<Block>> block = feed_.next_block(reader);
  const std::uint64_t position = feed_.source().file_position();
  lock.lock();
  fetching_ = false;
  changed_.notify_all();
  if (options_.progress) options_.progress(position);
  if (!block) {
    fail(block.error());
    return std::nullopt;
  }
  // After one that was cut nothing is wanted: the list is over in it, or it is an error.
  fetched_all_ = !block->has_value() || (*block)->ends || (*block)->cut;
  if (!block->has_value()) return std::nullopt;
  return Fetched{next_fetch_++, std::move(**block)};
}

Parsed Pipeline::parse(Block block, Scanner& scanner, trace::Shard& shard) {
  block.reader = shard.number();
  shard.begin(block.text_offset);
  const StretchEnd end = scanner.scan({block.begin(), block.end(), block.text_offset, block.ends});
  const auto left = static_cast<std::size_t>(block.end() - end.at);
  return {.block = std::move(block),
          .batch = shard.finish(),
          .end = end,
          .error = {},
          .tried = end.where == Where::kInEvent ? left : 0};
}

// Takes over what has become certain, in file order. Called with the lock held.
void Pipeline::take_over(Scanner& scanner, trace::Shard& shard) {
  while (!done_) {
    const auto found = parsed_.find(next_accept_);
    if (found == parsed_.end()) return;
    Parsed& parsed = found->second;
    if (parsed.error) {
      fail(*parsed.error);
      return;
    }
    if (parsed.end.where != Where::kListOver && parsed.block.cut) {
      stop_in_long_event(parsed);
      return;
    }
    if (parsed.end.where == Where::kInEvent) {
      const auto next = parsed_.find(next_accept_ + 1);
      if (next == parsed_.end()) return;  // not read yet; whoever reads it comes back here
      Parsed& second = next->second;
      if (second.error) {
        fail(*second.error);
        return;
      }
      if (second.block.size == 0 && !second.block.ends) {
        second = std::move(parsed);
      } else {
        join(parsed, second, scanner, shard);
        if (done_) return;
      }
      parsed_.erase(found);
      ++next_accept_;
      continue;
    }
    accept(parsed);
    if (done_) return;
    const bool last = parsed.end.where == Where::kListOver || parsed.block.ends;
    if (last) {
      finish(parsed);
      return;
    }
    feed_.recycle(std::move(parsed.block));
    parsed_.erase(found);
    ++next_accept_;
  }
}

// `first` ends inside an event: what seemed to be the beginning of the next one was none. Its last
// part is read again together with the block that follows it. A long event is not read again with
// each of its blocks, but when the text has become twice as long.
void Pipeline::join(Parsed& first, Parsed& second, Scanner& scanner, trace::Shard& shard) {
  const auto used = static_cast<std::size_t>(first.end.at - first.block.begin());
  const std::size_t left = first.block.size - used;
  const std::uint64_t text_offset = first.block.text_offset + used;
  if (left > kLongestEvent) {
    stop_in_long_event(first);
    return;
  }
  const std::size_t size = left + second.block.size;
  const bool in_place = used == 0 && first.block.room() >= size;
  Block joined = in_place ? std::move(first.block) : feed_.take(2 * size, shard.number());
  if (!in_place) std::memcpy(joined.begin(), first.end.at, left);
  std::memcpy(joined.begin() + left, second.block.begin(), second.block.size);
  joined.size = size;
  joined.text_offset = text_offset;
  joined.ends = second.block.ends;
  joined.cut = second.block.cut;
  std::memset(joined.end(), 0, kPadding);
  if (!first.is_text) accept(first);
  list_.has_discarded = true;
  if (!in_place) feed_.recycle(std::move(first.block));
  feed_.recycle(std::move(second.block));  // its text is the joined one's
  const std::size_t tried = first.tried;
  if (size < 2 * tried && size <= kLongestEvent && !joined.ends && !joined.cut) {
    char* const begin = joined.begin();
    second = {.block = std::move(joined),
              .batch = {},
              .end = {Where::kInEvent, begin},
              .error = {},
              .tried = tried,
              .is_text = true};
    return;
  }
  second = parse(std::move(joined), scanner, shard);
}

// No event ends for too long, and no one looks for its end: zeros of a crash, for one, have none.
// A file of which nothing was read before is no trace.
void Pipeline::stop_in_long_event(Parsed& last) {
  const std::uint64_t text_offset =
      last.block.text_offset + static_cast<std::uint64_t>(last.end.at - last.block.begin());
  const base::Failure failure = feed_.too_long(text_offset);
  const bool has_events = std::any_of(list_.batches.begin(), list_.batches.end(),
                                      [](const trace::Batch& batch) { return has_row(batch); });
  if (!has_events && !has_row(last.batch)) {
    fail(failure.error);
    return;
  }
  last.batch.log.add(base::Note::kEndlessEvent, text_offset);
  if (last.is_text) last.batch.text_offset = text_offset;
  accept(last);
  done_ = true;
  changed_.notify_all();
}

void Pipeline::accept(Parsed& parsed) {
  staged_bytes_ += parsed.batch.bytes_held();
  if (staged_bytes_ > options_.max_memory_bytes / kToPutInOrder) {
    constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
    fail({base::Code::kLimit,
          fmt::format("{}:{}: the events read so far take {} MiB, and as much again to put them in "
                      "order: more than allowed; raise --max-memory to go on",
                      feed_.source().name(), parsed.block.text_offset,
                      (staged_bytes_ + kMiB - 1) / kMiB)});
    return;
  }
  list_.batches.push_back(std::move(parsed.batch));
}

// The list is over, or the file is.
void Pipeline::finish(const Parsed& last) {
  done_ = true;
  if (last.end.where != Where::kListOver) return;
  list_.closed = true;
  const auto used = static_cast<std::size_t>(last.end.at - last.block.begin());
  list_.rest_offset = last.block.text_offset + used;
  list_.rest.assign(last.end.at, last.block.size - used);
}

void Pipeline::collect_rest() {
  for (const auto& [number, parsed] : parsed_) {
    // After a block that was cut others begin later.
    if (number <= next_accept_ || parsed.block.size == 0) continue;
    if (parsed.block.text_offset != list_.rest_offset + list_.rest.size()) break;
    list_.rest.append(parsed.block.begin(), parsed.block.size);
    list_.has_discarded = true;
  }
}

void Pipeline::fail(base::Error error) {
  if (!error_) error_ = std::move(error);
  done_ = true;
  changed_.notify_all();
}

}  // namespace

base::Result<EventList> read_events(TextFeed& feed, const ReadOptions& options) {
  return Pipeline(feed, options).run();
}

}  // namespace stepscope::ingest::kineto
