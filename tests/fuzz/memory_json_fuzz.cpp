// Any bytes give a timeline, figures or an error: no crash, no hang, memory bounded by the input.
// Of a timeline, times do not fall. Bytes that no reader calls its own are still read by both:
// sniffing is a guess.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "ingest/memory_json/memory_json.h"

namespace {

using namespace stepscope;

void must(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "broken promise: %s\n", what);
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string file(reinterpret_cast<const char*>(data), size);
  const std::string_view first = std::string_view(file).substr(0, 4096);
  must(ingest::memory_json::sniff_timeline(first) == 0 ||
           ingest::memory_json::sniff_stats(first) == 0,
       "a file is one thing");
  ingest::ReadOptions options;
  options.block_bytes = 1 << 16;
  const auto timeline =
      ingest::memory_json::read_timeline(bytes::memory_source("fuzz.json", file), options);
  if (timeline) {
    must(timeline->points.size() <= size, "a point takes text");
    for (std::size_t i = 1; i < timeline->points.size(); ++i) {
      must(timeline->points[i - 1].time <= timeline->points[i].time, "times do not fall");
    }
  } else {
    must(!timeline.error().message.empty(), "an error says what is wrong");
  }
  const auto stats =
      ingest::memory_json::read_stats(bytes::memory_source("fuzz.json", file), options);
  if (!stats) must(!stats.error().message.empty(), "an error says what is wrong");
  return 0;
}
