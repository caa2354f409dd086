// Reads the blocks of a recorded process.
#include "wire/reader.h"

#include <algorithm>
#include <cstring>

#include "wire/checksum.h"

namespace stepscope::wire {
namespace {

constexpr std::size_t kVersionAt = kMagic.size() - 1;

std::uint32_t word_at(const char* at) {
  std::uint32_t value = 0;
  std::memcpy(&value, at, sizeof(value));
  return value;
}

template <class T>
std::optional<T> whole(const Cursor& cursor, T value) {
  if (!cursor.ok() || !cursor.at_end()) return std::nullopt;
  return value;
}

}  // namespace

bool is_scope_file(std::string_view first_bytes) {
  return first_bytes.starts_with(std::string_view(kMagic.data(), kVersionAt));
}

void BlockReader::add(std::span<const char> bytes) {
  buffer_.erase(0, at_);
  at_ = 0;
  buffer_.append(bytes.data(), bytes.size());
}

bool BlockReader::take_file_header() {
  if (started_) return true;
  if (left() < kMagic.size()) {
    wrong_start_ = finished_;
    return false;
  }
  const std::string_view start = std::string_view(buffer_).substr(at_, kMagic.size());
  wrong_start_ = !is_scope_file(start);
  wrong_version_ = !wrong_start_ && start[kVersionAt] != kMagic[kVersionAt];
  if (wrong_start_ || wrong_version_) return false;
  started_ = true;
  at_ += kMagic.size();
  offset_ += kMagic.size();
  return true;
}

void BlockReader::skip(std::size_t count) {
  if (count == 0) return;
  if (skipped_ == 0) first_skip_ = offset_;
  skipped_ += count;
  at_ += count;
  offset_ += count;
}

std::optional<BlockView> BlockReader::next() {
  if (!take_file_header()) return std::nullopt;
  while (left() >= kBlockHeaderBytes) {
    const char* const start = buffer_.data() + at_;
    const std::size_t bytes = word_at(start + 8);
    if (word_at(start) == kBlockMark && bytes <= kMostPayloadBytes) {
      if (left() < kBlockHeaderBytes + bytes) {
        if (!finished_) return std::nullopt;
        // The last block of a process that was killed, unless whole blocks come after it.
      } else if (const std::span<const char> payload(start + kBlockHeaderBytes, bytes);
                 crc32c(payload, crc32c({start + 4, 8})) == word_at(start + 12)) {
        const BlockView block{static_cast<BlockKind>(word_at(start + 4)), offset_, payload};
        at_ += kBlockHeaderBytes + bytes;
        offset_ += kBlockHeaderBytes + bytes;
        return block;
      }
    }
    // To the next place that may be a block's beginning.
    const std::string_view mark(reinterpret_cast<const char*>(&kBlockMark), sizeof(kBlockMark));
    const std::size_t found = std::string_view(buffer_).find(mark, at_ + 1);
    const std::size_t to =
        found != std::string_view::npos ? found : buffer_.size() - (sizeof(kBlockMark) - 1);
    skip(to - at_);
  }
  if (finished_ && left() > 0) {
    cut_ = left();
    skip(left());
  }
  return std::nullopt;
}

namespace {

Fields take_fields(Cursor& cursor) {
  const std::uint64_t count = cursor.varint();
  Fields fields;
  for (std::uint64_t i = 0; i < count && cursor.ok(); ++i) {
    std::string key(cursor.text());
    fields.emplace_back(std::move(key), cursor.text());
  }
  return fields;
}

// False where the places are not those of moments, in order.
bool take_places(Cursor& cursor, std::size_t moments, std::size_t count,
                 std::vector<std::uint32_t>& at) {
  std::uint64_t place = 0;
  for (std::size_t i = 0; i < count && cursor.ok(); ++i) {
    const std::uint64_t ahead = count == moments ? (i == 0 ? 0 : 1) : cursor.varint();
    if ((i > 0 && ahead == 0) || ahead >= moments - place) return false;
    place += ahead;
    at.push_back(static_cast<std::uint32_t>(place));
  }
  return true;
}

}  // namespace

std::optional<Fields> read_process(std::span<const char> payload) {
  Cursor cursor(payload);
  Fields fields = take_fields(cursor);
  return whole(cursor, std::move(fields));
}

std::optional<SeriesInfo> read_series(std::span<const char> payload) {
  Cursor cursor(payload);
  SeriesInfo info;
  info.series = static_cast<SeriesId>(cursor.varint());
  info.about = take_fields(cursor);
  return whole(cursor, std::move(info));
}

std::optional<SampleBlock> read_samples(std::span<const char> payload) {
  Cursor cursor(payload);
  SampleBlock block;
  const std::uint64_t moments = cursor.varint();
  if (moments > cursor.left()) return std::nullopt;  // each takes a byte at least
  std::uint64_t ticks = 0;
  for (std::uint64_t i = 0; i < moments; ++i) {
    ticks += static_cast<std::uint64_t>(unzigzag(cursor.varint()));
    block.ticks.push_back(ticks);
  }
  while (cursor.ok() && !cursor.at_end()) {
    SampleColumn column;
    column.series = static_cast<SeriesId>(cursor.varint());
    const std::uint64_t count = cursor.varint();
    if (count > moments || count > cursor.left()) return std::nullopt;
    if (!take_places(cursor, moments, count, column.at)) return std::nullopt;
    std::uint64_t value = 0;
    for (std::uint64_t i = 0; i < count && cursor.ok(); ++i) {
      value += static_cast<std::uint64_t>(unzigzag(cursor.varint()));
      column.values.push_back(static_cast<std::int64_t>(value));
    }
    block.columns.push_back(std::move(column));
  }
  return whole(cursor, std::move(block));
}

std::optional<Anchor> read_anchor(std::span<const char> payload) {
  Cursor cursor(payload);
  Anchor anchor;
  anchor.ticks = cursor.fixed<std::uint64_t>();
  anchor.monotonic_ns = cursor.fixed<std::int64_t>();
  anchor.wall_ns = cursor.fixed<std::int64_t>();
  return whole(cursor, anchor);
}

std::optional<NameRun> read_names(std::span<const char> payload) {
  Cursor cursor(payload);
  NameRun run;
  run.first = static_cast<NameId>(cursor.varint());
  const std::uint64_t count = cursor.varint();
  for (std::uint64_t i = 0; i < count && cursor.ok(); ++i) run.names.push_back(cursor.text());
  return whole(cursor, std::move(run));
}

std::optional<ThreadInfo> read_thread(std::span<const char> payload) {
  Cursor cursor(payload);
  ThreadInfo info;
  info.thread = static_cast<ThreadId>(cursor.varint());
  info.system_id = unzigzag(cursor.varint());
  info.name = cursor.text();
  return whole(cursor, info);
}

std::optional<std::vector<LogLine>> read_logs(std::span<const char> payload) {
  Cursor cursor(payload);
  std::vector<LogLine> lines;
  while (cursor.ok() && !cursor.at_end()) {
    LogLine line;
    line.ticks = cursor.fixed<std::uint64_t>();
    line.thread = static_cast<ThreadId>(cursor.varint());
    line.lane = cursor.varint();
    line.step = unzigzag(cursor.varint());
    line.level = static_cast<std::int32_t>(unzigzag(cursor.varint()));
    line.logger = cursor.text();
    line.text = cursor.text();
    lines.push_back(std::move(line));
  }
  return whole(cursor, std::move(lines));
}

std::optional<Dropped> read_dropped(std::span<const char> payload) {
  Cursor cursor(payload);
  Dropped dropped;
  dropped.thread = static_cast<ThreadId>(cursor.varint());
  dropped.count = cursor.varint();
  return whole(cursor, dropped);
}

std::optional<Cost> read_end(std::span<const char> payload) {
  Cursor cursor(payload);
  Cost cost;
  for (std::uint64_t* value :
       {&cost.records, &cost.dropped, &cost.log_lines, &cost.bytes, &cost.lost_bytes}) {
    *value = cursor.varint();
  }
  cost.writer_ns = unzigzag(cursor.varint());
  return whole(cursor, cost);
}

}  // namespace stepscope::wire
