// Bytes as blocks, and blocks as what they say. Damage is skipped to the next whole block and
// counted; nothing here trusts a length.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "wire/format.h"
#include "wire/numbers.h"
#include "wire/writer.h"

namespace stepscope::wire {

// Whether a file that begins so is one of ours, of any version.
bool is_scope_file(std::string_view first_bytes);

struct BlockView {
  BlockKind kind;
  std::uint64_t offset = 0;  // of the block in the file
  std::span<const char> payload;
};

// Takes a file piece by piece and gives its blocks.
class BlockReader {
 public:
  void add(std::span<const char> bytes);
  void finish() { finished_ = true; }  // no more comes

  // The next whole block; nothing: add more, or the file is done. Valid until add or next.
  std::optional<BlockView> next();

  bool wrong_start() const { return wrong_start_; }
  bool wrong_version() const { return wrong_version_; }
  std::uint64_t skipped_bytes() const { return skipped_; }  // that belong to no whole block
  std::uint64_t first_skip() const { return first_skip_; }  // where in the file
  // What is left at the end is a block that was being written when the process died.
  std::uint64_t cut_bytes() const { return cut_; }

 private:
  bool take_file_header();
  void skip(std::size_t count);
  std::size_t left() const { return buffer_.size() - at_; }

  std::string buffer_;
  std::size_t at_ = 0;
  std::uint64_t offset_ = 0;  // of at_ in the file
  std::uint64_t skipped_ = 0, first_skip_ = 0, cut_ = 0;
  bool started_ = false, finished_ = false, wrong_start_ = false, wrong_version_ = false;
};

// Each is empty when the payload is not what the kind promises.
std::optional<Fields> read_process(std::span<const char> payload);
std::optional<Anchor> read_anchor(std::span<const char> payload);
struct NameRun {
  NameId first = 0;
  std::vector<std::string_view> names;
};
std::optional<NameRun> read_names(std::span<const char> payload);
struct ThreadInfo {
  ThreadId thread = 0;
  std::int64_t system_id = 0;
  std::string_view name;
};
std::optional<ThreadInfo> read_thread(std::span<const char> payload);
std::optional<std::vector<LogLine>> read_logs(std::span<const char> payload);
struct Dropped {
  ThreadId thread = 0;
  std::uint64_t count = 0;
};
std::optional<Dropped> read_dropped(std::span<const char> payload);
std::optional<Cost> read_end(std::span<const char> payload);
struct SeriesInfo {
  SeriesId series = 0;
  Fields about;
};
std::optional<SeriesInfo> read_series(std::span<const char> payload);
std::optional<SampleBlock> read_samples(std::span<const char> payload);

// Calls visit(thread, record, value) for each; the value is that of a step or a counter.
// Returns the thread, or nothing when the payload ends too early or holds what we do not know:
// records before that were visited.
template <class Visit>
std::optional<ThreadId> read_events(std::span<const char> payload, Visit visit) {
  Cursor cursor(payload);
  const auto thread = static_cast<ThreadId>(cursor.varint());
  std::uint64_t ticks = cursor.fixed<std::uint64_t>();
  while (cursor.ok() && !cursor.at_end()) {
    const std::uint64_t word = cursor.varint();
    const auto kind = static_cast<std::uint8_t>(word & 7);
    ticks += static_cast<std::uint64_t>(unzigzag(cursor.varint()));
    if (kind >= kRecordKinds) return std::nullopt;
    const auto record_kind = static_cast<RecordKind>(kind);
    const std::uint64_t value = has_value(record_kind) ? cursor.fixed<std::uint64_t>() : 0;
    if (!cursor.ok()) return std::nullopt;
    visit(thread, Record{ticks, Record::pack(record_kind, word >> 3)}, value);
  }
  if (!cursor.ok()) return std::nullopt;
  return thread;
}

}  // namespace stepscope::wire
