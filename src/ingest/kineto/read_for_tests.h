// Texts through the whole reader, as the tests want it: reference or fast, in blocks of any size.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "base/each_note.h"
#include "bytes/files_for_tests.h"
#include "bytes/source.h"
#include "bytes/streamed_for_tests.h"
#include "ingest/kineto/kineto.h"

namespace stepscope::ingest::kineto {

struct Odd {
  base::Note note;
  std::uint64_t count, offset;
  bool operator==(const Odd&) const = default;
};

inline void PrintTo(const Odd& odd, std::ostream* out) {
  *out << odd.count << " " << base::info_of(odd.note).id << " at " << odd.offset;
}

inline std::vector<Odd> odd_things(const base::ImportLog& log) {
  std::vector<Odd> odd;
  base::for_each_note(log, [&](base::Note note, const base::NoteInfo&, const auto& entry) {
    if (note != base::Note::kWithoutBaseTime) odd.push_back({note, entry.count, entry.offset});
  });
  return odd;
}

// Threads fetch their blocks themselves where they can; what is decompressed comes in one stream.
enum class Fetch : std::uint8_t { kApart, kStreamed, kPacked };
inline constexpr std::array kFetches = {Fetch::kApart, Fetch::kStreamed, Fetch::kPacked};

inline std::unique_ptr<bytes::ByteSource> source_of(const std::string& text, Fetch fetch) {
  if (fetch == Fetch::kStreamed) return bytes::streamed_source("test.json", text);
  if (fetch == Fetch::kApart) return bytes::memory_source("test.json", text);
  return bytes::memory_source("test.json", bytes::zstd_frames_of(text, text.size() / 5 + 1));
}

inline base::Result<trace::Trace> trace_of(const std::string& text, bool reference_reader,
                                           std::size_t block_bytes, unsigned threads = 1,
                                           Fetch fetch = Fetch::kApart) {
  ReadOptions options;
  options.threads = threads;
  options.reference_only = reference_reader;
  options.block_bytes = block_bytes;
  return kineto::read(source_of(text, fetch), options);
}

inline const std::string kA = R"({"ph":"X","name":"a","ts":1,"dur":2})";

inline std::string event_text(const char* category, int tid, int ts, const std::string& args) {
  return R"({"ph":"X","name":"n","cat":")" + std::string(category) + R"(","pid":1,"tid":)" +
         std::to_string(tid) + R"(,"ts":)" + std::to_string(ts) + R"(,"dur":1,"args":{)" + args +
         "}},";
}

}  // namespace stepscope::ingest::kineto
