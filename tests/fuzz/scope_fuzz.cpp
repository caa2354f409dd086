// Any bytes give a recording or an error: no crash, no hang, no overflow, no memory beyond a bound
// that grows with the input. Blocks have checksums, which chance does not meet: every input is read
// as it is, and once more with its checksums mended, so that what they protect is reached.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "ingest/scope/scope.h"
#include "trace/process_record.h"
#include "wire/checksum.h"
#include "wire/reader.h"

namespace {

using namespace stepscope;

void must(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "broken promise: %s\n", what);
  std::abort();
}

std::string mended(std::string file) {
  for (std::size_t at = wire::kMagic.size(); at + wire::kBlockHeaderBytes <= file.size();) {
    std::memcpy(file.data() + at, &wire::kBlockMark, sizeof(wire::kBlockMark));
    std::uint32_t bytes = 0;
    std::memcpy(&bytes, file.data() + at + 8, sizeof(bytes));
    const std::size_t left = file.size() - at - wire::kBlockHeaderBytes;
    if (bytes > left) bytes = static_cast<std::uint32_t>(left);
    std::memcpy(file.data() + at + 8, &bytes, sizeof(bytes));
    const std::uint32_t sum = wire::crc32c({file.data() + at + wire::kBlockHeaderBytes, bytes},
                                           wire::crc32c({file.data() + at + 4, 8}));
    std::memcpy(file.data() + at + 12, &sum, sizeof(sum));
    at += wire::kBlockHeaderBytes + bytes;
  }
  return file;
}

void check(const trace::Trace& trace, std::size_t input_bytes) {
  std::size_t rows = 0;
  for (const trace::Track& track : trace.tracks()) {
    must(track.begin <= track.end && track.end <= trace.size(), "tracks hold rows");
    rows += track.end - track.begin;
  }
  must(rows == trace.size(), "every row has a track");
  for (trace::Row row = 0; row < trace.size(); ++row) {
    must(trace.name()[row] < trace.strings().size(), "names exist");
    must(trace.duration()[row] >= 0, "no length is below zero");
    const trace::Row parent = trace.parent()[row];
    must(parent == trace::kNoRow || parent < row, "a parent stands before its children");
    must(trace.event_text(row).has_value(), "every event has a text");
  }
  const auto& record = trace.header().process_record;
  must(record != nullptr, "a recording says that it is one");
  must(record->open_ranges <= record->ranges, "open ranges are ranges");
  must(trace.memory() < (std::size_t{4} << 20) + 2'000 * input_bytes, "memory is bounded");
}

// Pieces of any size give the same blocks.
void check_pieces(const std::string& file) {
  wire::BlockReader whole;
  whole.add(file);
  whole.finish();
  std::size_t blocks = 0;
  while (whole.next()) ++blocks;
  wire::BlockReader pieces;
  std::size_t found = 0;
  for (std::size_t at = 0; at < file.size(); at += 13) {
    pieces.add(std::span(file).subspan(at, std::min<std::size_t>(13, file.size() - at)));
    while (pieces.next()) ++found;
  }
  pieces.finish();
  while (pieces.next()) ++found;
  must(blocks == found, "pieces do not matter");
  must(whole.skipped_bytes() == pieces.skipped_bytes(), "pieces do not matter");
}

void read(const std::string& file) {
  const auto trace = ingest::scope::read(bytes::memory_source("fuzz.scope", file), {});
  if (trace) check(*trace, file.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string file(reinterpret_cast<const char*>(data), size);
  if (size < 4096) check_pieces(file);
  read(file);
  read(mended(file));
  return 0;
}
