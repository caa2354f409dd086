#include "bytes/text_reader.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <gtest/gtest.h>

#include "base/temp_folder_for_tests.h"
#include "bytes/files_for_tests.h"
#include "bytes/seek_index.h"

namespace stepscope::bytes {
namespace {

using base::TempFolder;
using std::string;

struct FirstPass {
  string text;
  Encoding encoding;
  std::shared_ptr<const SeekIndex> index;
};

FirstPass read_once(const string& path, std::uint64_t spacing, std::size_t span_bytes = 1 << 18) {
  auto source = open_source(path, {.checkpoint_spacing_bytes = spacing});
  EXPECT_TRUE(source);
  ReadAll all = read_all(**source, span_bytes);
  EXPECT_FALSE(all.error);
  return {std::move(all.text), (*source)->encoding(), (*source)->seek_index()};
}

// Reads `rounds` pieces at random, ascending and nearby offsets and compares them with the text.
void expect_same_text(const string& path, const FirstPass& first, int rounds, unsigned seed) {
  auto reader = open_text(path, first.encoding, first.index);
  ASSERT_TRUE(reader) << reader.error().message;
  std::minstd_rand random(seed);
  std::size_t at = 0;
  for (int round = 0; round < rounds; ++round) {
    if (round % 8 == 0)
      at = random() * 3ULL % (first.text.size() + 10);
    else
      at += random() % 2'000;
    string got(round % 16 == 5 ? 700'000 : random() % 1'000, '\0');
    const auto count = (*reader)->read_at(at, got);
    ASSERT_TRUE(count) << count.error().message;
    const std::string_view expected =
        std::string_view(first.text).substr(std::min(at, first.text.size()), got.size());
    got.resize(*count);
    ASSERT_TRUE(got == expected) << at;
  }
}

TEST(TextReader, ReadsTheSameTextAtAnyOffset) {
  TempFolder folder;
  const string text = synthetic_text(3'000'000);
  string members, frames;
  for (std::size_t at = 0; at < text.size(); at += 100'000) {
    members += gzip_of(std::string_view(text).substr(at, 100'000));
    frames += zstd_of(std::string_view(text).substr(at, 100'000)) + zstd_skippable("x");
  }
  const struct {
    const char* name;
    string file;
    bool has_checkpoints;
  } cases[] = {
      {"plain", text, false},
      {"gzip of a fixed code", gzip_of(text, 0), true},
      {"gzip", gzip_of(text, 1), true},
      {"gzip level 3", gzip_of(text, 3), true},
      {"gzip of many members", members, true},
      {"gzip with padding", members + string(3'000, '\0'), true},
      {"zstd of many frames", frames, true},
      {"zstd of one frame", zstd_of(text), false},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const string path = folder.write("trace", c.file);
    for (const std::uint64_t spacing : Sizes{1'000, 70'000, 1'000'000}) {
      for (const std::size_t span : Sizes{999, 1 << 20}) {
        const FirstPass first = read_once(path, spacing, span);
        ASSERT_TRUE(first.text == text);
        ASSERT_NE(first.index, nullptr);
        EXPECT_EQ(first.index->checkpoints.size() > 2, c.has_checkpoints);
        expect_same_text(path, first, 100, static_cast<unsigned>(spacing));
      }
    }
  }
}

TEST(TextReader, StoredBlocksAndNoiseResumeToo) {
  TempFolder folder;
  const string path = folder.write("noise.gz", gzip_of(noise(1'000'000)));
  expect_same_text(path, read_once(path, 10'000), 200, 1);
}

TEST(TextReader, ResumesInALargeFileFromASmallIndex) {
  TempFolder folder;
  const string text = synthetic_text(100 << 20);
  const string path = folder.write("large.json.gz", gzip_of(text));
  const FirstPass first = read_once(path, 8 << 20);
  ASSERT_TRUE(first.text == text);
  EXPECT_EQ(first.index->checkpoints.size(), 13U);  // one at 0, one for each further 8 MiB
  EXPECT_LT(first.index->memory_bytes(), text.size() / 100);
  for (std::size_t i = 1; i < first.index->checkpoints.size(); ++i) {
    const std::uint64_t distance =
        first.index->checkpoints[i].text_offset - first.index->checkpoints[i - 1].text_offset;
    EXPECT_LT(distance, (8U << 20) + (1U << 20));
  }
  expect_same_text(path, first, 60, 5);
}

TEST(TextReader, EndsWhereDamagedTextEnds) {
  TempFolder folder;
  const string text = synthetic_text(500'000);
  for (const string& whole : {gzip_of(text), zstd_of(text)}) {
    const string path = folder.write("cut", whole.substr(0, whole.size() / 2));
    const FirstPass first = read_once(path, 50'000);
    ASSERT_LT(first.text.size(), text.size());
    expect_same_text(path, first, 100, 1);
    auto reader = open_text(path, first.encoding, first.index);
    char beyond[10];
    EXPECT_EQ(*(*reader)->read_at(first.text.size() - 3, beyond), 3U);
    EXPECT_EQ(*(*reader)->read_at(first.text.size(), beyond), 0U);
    EXPECT_EQ(*(*reader)->read_at(1'000'000'000'000, beyond), 0U);
    EXPECT_EQ(*(*reader)->read_at(0, beyond), 10U);
  }
}

TEST(TextReader, AFileThatChangedSinceIsAnError) {
  TempFolder folder;
  const string text = synthetic_text(2'000'000);
  for (const string& content : {text, gzip_of(text), zstd_of(text)}) {
    const string path = folder.write("rank0.json", content);
    const FirstPass first = read_once(path, 100'000);
    auto reader = open_text(path, first.encoding, first.index);
    ASSERT_TRUE(reader);
    char c = 0;
    ASSERT_TRUE((*reader)->read_at(5, {&c, 1}));
    const auto size = static_cast<off_t>(content.size());
    ASSERT_EQ(::truncate(path.c_str(), size + 1), 0);
    const string expected = path + ": changed since it was opened: " + std::to_string(size) +
                            " bytes then, " + std::to_string(size + 1) +
                            " now (is the program still writing it?)";
    const auto later = (*reader)->read_at(1'900'000, {&c, 1});
    ASSERT_FALSE(later);
    EXPECT_EQ(later.error().code, base::Code::kIo);
    EXPECT_EQ(later.error().message, expected);
    const auto reopened = open_text(path, first.encoding, first.index);
    ASSERT_FALSE(reopened);
    EXPECT_EQ(reopened.error().message, expected);
  }
}

TEST(TextReader, NeedsTheIndexOfAFirstReading) {
  EXPECT_FALSE(open_text("-", Encoding::kPlain, std::make_shared<SeekIndex>()));
  const auto none = open_text("trace.json", Encoding::kGzip, nullptr);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, base::Code::kInvalidArgument);
}

}  // namespace
}  // namespace stepscope::bytes
