// Blocks as bytes. Pure: whoever writes files calls this, so that both sides of the format stand
// in one room and can be tested without a disk.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "wire/format.h"

namespace stepscope::wire {

struct LogLine {
  std::uint64_t ticks = 0;
  ThreadId thread = 0;
  std::uint64_t lane = 0;
  std::int64_t step = -1;   // -1: before the first
  std::int32_t level = 20;  // as Python counts: 10 debug, 20 info, 30 warning, 40 error
  std::string logger;
  std::string text;
};

// What the recording itself cost.
struct Cost {
  std::uint64_t records = 0, dropped = 0, log_lines = 0;
  std::uint64_t bytes = 0, lost_bytes = 0;  // written, and refused by the system
  std::int64_t writer_ns = 0;               // CPU time of the writing thread
};

using Fields = std::vector<std::pair<std::string, std::string>>;

// Values of one series at some of the moments of a block. Whole numbers: what they count is said
// where the series is defined.
struct SampleColumn {
  SeriesId series = 0;
  std::vector<std::uint32_t> at;  // indices into the moments, rising
  std::vector<std::int64_t> values;
};
struct SampleBlock {
  std::vector<std::uint64_t> ticks;  // the moments
  std::vector<SampleColumn> columns;
};

void put_file_header(std::string& out);
void put_process(std::string& out, const Fields& fields);
void put_anchor(std::string& out, const Anchor& anchor);
// Names from `first` on, in the order of their numbers. Splits into as many blocks as needed.
void put_names(std::string& out, NameId first, std::span<const std::string_view> names);
void put_thread(std::string& out, ThreadId thread, std::int64_t system_id, std::string_view name);
// The record after a step or a counter holds its value.
void put_events(std::string& out, ThreadId thread, std::span<const Record> records);
void put_logs(std::string& out, std::span<const LogLine> lines);
void put_dropped(std::string& out, ThreadId thread, std::uint64_t count);
void put_end(std::string& out, const Cost& cost);
void put_series(std::string& out, SeriesId series, const Fields& about);
void put_samples(std::string& out, const SampleBlock& samples);

}  // namespace stepscope::wire
