// Writes the blocks of a recorded process.
#include "wire/writer.h"

#include <algorithm>

#include "wire/checksum.h"
#include "wire/numbers.h"

namespace stepscope::wire {
namespace {

// Small enough that damage costs little, large enough that headers do not matter.
constexpr std::size_t kEventsPerBlock = 16'384;
constexpr std::size_t kSplitBytes = std::size_t{1} << 18;
// A text longer than this is cut: a block must hold it.

// Reserves the header, and fills it in once the payload is there.
class Block {
 public:
  Block(std::string& out, BlockKind kind) : out_(out), at_(out.size()), kind_(kind) {
    out_.resize(at_ + kBlockHeaderBytes);
  }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  ~Block() {
    struct Header {
      std::uint32_t mark, kind, bytes, checksum;
    } header{kBlockMark, static_cast<std::uint32_t>(kind_), static_cast<std::uint32_t>(size()), 0};
    char* const place = out_.data() + at_;
    std::memcpy(place, &header, sizeof(header));
    const std::span<const char> covered(place + sizeof(header.mark), 8);
    header.checksum = crc32c({place + kBlockHeaderBytes, size()}, crc32c(covered));
    std::memcpy(place + 12, &header.checksum, sizeof(header.checksum));
  }
  std::size_t size() const { return out_.size() - at_ - kBlockHeaderBytes; }

 private:
  std::string& out_;
  std::size_t at_;
  BlockKind kind_;
};

void put_record(std::string& out, const Record& record, std::uint64_t& last_ticks) {
  put_varint(out, record.what() << 3 | static_cast<std::uint64_t>(record.kind()));
  put_varint(out, zigzag(static_cast<std::int64_t>(record.ticks - last_ticks)));
  last_ticks = record.ticks;
}

std::string_view cut(std::string_view text) { return text.substr(0, kLongestText); }

void put_fields(std::string& out, const Fields& fields) {
  put_varint(out, fields.size());
  for (const auto& [key, value] : fields) {
    put_text(out, cut(key));
    put_text(out, cut(value));
  }
}

}  // namespace

void put_file_header(std::string& out) { out.append(kMagic.data(), kMagic.size()); }

void put_process(std::string& out, const Fields& fields) {
  const Block block(out, BlockKind::kProcess);
  put_fields(out, fields);
}

void put_anchor(std::string& out, const Anchor& anchor) {
  const Block block(out, BlockKind::kAnchor);
  put_fixed(out, anchor.ticks);
  put_fixed(out, anchor.monotonic_ns);
  put_fixed(out, anchor.wall_ns);
}

void put_names(std::string& out, NameId first, std::span<const std::string_view> names) {
  while (!names.empty()) {
    std::size_t count = 0;
    for (std::size_t bytes = 0; count < names.size() && bytes < kSplitBytes; ++count) {
      bytes += cut(names[count]).size() + 3;
    }
    const Block block(out, BlockKind::kNames);
    put_varint(out, first);
    put_varint(out, count);
    for (const std::string_view name : names.first(count)) put_text(out, cut(name));
    first += static_cast<NameId>(count);
    names = names.subspan(count);
  }
}

void put_thread(std::string& out, ThreadId thread, std::int64_t system_id, std::string_view name) {
  const Block block(out, BlockKind::kThread);
  put_varint(out, thread);
  put_varint(out, zigzag(system_id));
  put_text(out, cut(name));
}

void put_events(std::string& out, ThreadId thread, std::span<const Record> records) {
  for (std::size_t at = 0; at < records.size();) {
    const Block block(out, BlockKind::kEvents);
    put_varint(out, thread);
    std::uint64_t last_ticks = records[at].ticks;
    put_fixed(out, last_ticks);
    for (std::size_t n = 0; n < kEventsPerBlock && at < records.size(); ++n) {
      const Record& record = records[at++];
      put_record(out, record, last_ticks);
      if (!has_value(record.kind())) continue;
      put_fixed(out, at < records.size() ? records[at++].word : std::uint64_t{0});
    }
  }
}

void put_logs(std::string& out, std::span<const LogLine> lines) {
  while (!lines.empty()) {
    const Block block(out, BlockKind::kLogs);
    std::size_t taken = 0;
    for (; taken < lines.size() && block.size() < kSplitBytes; ++taken) {
      const LogLine& line = lines[taken];
      put_fixed(out, line.ticks);
      put_varint(out, line.thread);
      put_varint(out, line.lane);
      put_varint(out, zigzag(line.step));
      put_varint(out, zigzag(line.level));
      put_text(out, cut(line.logger));
      put_text(out, cut(line.text));
    }
    lines = lines.subspan(taken);
  }
}

void put_dropped(std::string& out, ThreadId thread, std::uint64_t count) {
  const Block block(out, BlockKind::kDropped);
  put_varint(out, thread);
  put_varint(out, count);
}

void put_end(std::string& out, const Cost& cost) {
  const Block block(out, BlockKind::kEnd);
  for (const std::uint64_t value :
       {cost.records, cost.dropped, cost.log_lines, cost.bytes, cost.lost_bytes}) {
    put_varint(out, value);
  }
  put_varint(out, zigzag(cost.writer_ns));
}

void put_series(std::string& out, SeriesId series, const Fields& about) {
  const Block block(out, BlockKind::kSeries);
  put_varint(out, series);
  put_fields(out, about);
}

void put_samples(std::string& out, const SampleBlock& samples) {
  const Block block(out, BlockKind::kSamples);
  put_varint(out, samples.ticks.size());
  std::uint64_t last_ticks = 0;
  for (const std::uint64_t ticks : samples.ticks) {
    put_varint(out, zigzag(static_cast<std::int64_t>(ticks - last_ticks)));
    last_ticks = ticks;
  }
  for (const SampleColumn& column : samples.columns) {
    put_varint(out, column.series);
    put_varint(out, column.values.size());
    // Nearly every series has a value at every moment: then their places need not be said.
    if (column.values.size() != samples.ticks.size()) {
      std::uint32_t last_at = 0;
      for (const std::uint32_t at : column.at) {
        put_varint(out, at - last_at);
        last_at = at;
      }
    }
    std::uint64_t last = 0;
    for (const std::int64_t value : column.values) {
      const auto bits = static_cast<std::uint64_t>(value);
      put_varint(out, zigzag(static_cast<std::int64_t>(bits - last)));
      last = bits;
    }
  }
}

}  // namespace stepscope::wire
