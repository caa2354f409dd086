// A checksum of packed text that does not match is noted once, wherever blocks end.
#include <gtest/gtest.h>

#include "ingest/kineto/read_for_tests.h"

namespace stepscope::ingest::kineto {
namespace {

using base::Note;

constexpr std::size_t kFrame = 1'000;

std::vector<Odd> odd_in(const std::string& file, std::size_t block_bytes, unsigned threads) {
  ReadOptions options;
  options.threads = threads;
  options.block_bytes = block_bytes;
  const auto trace = kineto::read(bytes::memory_source("test.json.zst", file), options);
  if (!trace) return {{Note::kCount, 0, 0}};
  return odd_things(trace->log());
}

// Frames of which one has another sum than its text.
std::string with_wrong_sum(const std::string& text, std::size_t frame) {
  std::string file = bytes::zstd_frames_of(text.substr(0, (frame + 1) * kFrame), kFrame);
  file.back() ^= 1;
  const std::size_t rest = std::min(text.size(), (frame + 1) * kFrame);
  return rest == text.size() ? file : file + bytes::zstd_frames_of(text.substr(rest), kFrame);
}

struct PackedText {
  const char* name;
  std::string text;
};

std::string events(std::size_t bytes) {
  std::string text;
  for (int ts = 1; text.size() < bytes; ++ts) text += event_text("cpu_op", 1, ts, R"("a":"{")");
  return text + kA;
}

std::string many(const std::string& object, std::size_t bytes) {
  std::string text = object;
  while (text.size() < bytes) text += "," + object;
  return text;
}

// Blocks end within what looks like events and is none, and after the list.
std::vector<PackedText> packed_texts() {
  const std::string header = R"("more":[)" + many(R"({"ph":1})", 9'000) + "]";
  const std::string inside = R"({"ph":"X","name":"a","ts":1,"dur":1,"args":{"l":[)";
  const std::string like_events = many(R"({"ph":"X","name":"q","ts":1})", 700);
  const std::string more_like_events = many(R"({"ph":"X","name":"q","ts":1})", 20'000);
  return {
      {"a list", "[" + events(30'000) + "]"},
      {"a header before it", "{" + header + R"(,"traceEvents":[)" + events(10'000) + "]}"},
      {"a header behind it", R"({"traceEvents":[)" + events(10'000) + "]," + header + "}"},
      {"words behind it", "[" + events(10'000) + "]" + std::string(9'000, ' ') + "[1]"},
      {"events of two blocks", "[" + many(inside + like_events + "]}}," + kA, 20'000) + "]"},
      {"an event of many blocks",
       "[" + events(5'000) + "," + inside + more_like_events + "]}}," + events(5'000) + "]"},
      {"a list that does not end", "[" + events(10'000) + R"(,{"ph":"X","name":")"},
  };
}

TEST(Sums, AWrongOneIsNotedOnceWhereverBlocksEnd) {
  for (const PackedText& c : packed_texts()) {
    const std::size_t frames = (c.text.size() + kFrame - 1) / kFrame;
    const std::vector<Odd> odd = odd_in(c.text, 1 << 20, 1);
    for (const unsigned threads : {1U, 2U, 5U}) {
      for (const std::size_t block_bytes : {std::size_t{300}, std::size_t{2'500}, kFrame * 1'000}) {
        SCOPED_TRACE(std::string(c.name) + ", " + std::to_string(threads) + " threads, blocks of " +
                     std::to_string(block_bytes));
        EXPECT_EQ(odd_in(bytes::zstd_frames_of(c.text, kFrame), block_bytes, threads), odd);
        for (const std::size_t frame : {std::size_t{0}, frames / 2, frames - 1}) {
          std::vector<Odd> expected = odd;
          const std::uint64_t end = std::min(c.text.size(), (frame + 1) * kFrame);
          expected.push_back({Note::kDamagedCompression, 1, end});
          std::ranges::sort(expected, {}, &Odd::note);
          std::vector<Odd> found = odd_in(with_wrong_sum(c.text, frame), block_bytes, threads);
          std::ranges::sort(found, {}, &Odd::note);
          EXPECT_EQ(found, expected) << "frame " << frame;
        }
      }
    }
  }
}

// The event is not read to its end, but the text after it is.
TEST(Sums, AWrongOneIsNotedWhenReadingStopsInAnEventWithoutEnd) {
  constexpr std::size_t kBlock = 4 << 20;
  const std::string before = "[" + kA + ",";
  const std::string object = R"({"a":")" + std::string(60'000, 'a') + R"("})";
  const std::string text = before + R"({"ph":"X","name":"b","ts":1,"args":{"l":[)" +
                           many(object, (64 << 20) + 2 * kBlock);
  std::string file = bytes::zstd_frames_of(text, kBlock / 8);
  file.back() ^= 1;
  const std::vector<Odd> expected = {{Note::kDamagedCompression, 1, text.size()},
                                     {Note::kEndlessEvent, 1, before.size()},
                                     {Note::kNoClosingBracket, 1, text.size()}};
  EXPECT_EQ(odd_in(file, kBlock, 2), expected);
}

}  // namespace
}  // namespace stepscope::ingest::kineto
