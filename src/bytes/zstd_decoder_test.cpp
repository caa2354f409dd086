#include "bytes/zstd_decoder.h"

#include <gtest/gtest.h>

#include "bytes/files_for_tests.h"

namespace stepscope::bytes {
namespace {

using std::string;

ReadAll decompress(string file, std::size_t span_bytes = 1 << 16, std::size_t window = 256 * 1024) {
  const auto source = memory_source("t.zst", std::move(file), {.input_window_bytes = window});
  EXPECT_EQ(source->encoding(), Encoding::kZstd);
  return read_all(*source, span_bytes);
}

TEST(Zstd, GivesTheTextWhateverTheSizeOfReadsAndWindows) {
  const string text = synthetic_text(500'000);
  for (const string& file : {zstd_of(text), zstd_of(text, true, 9)}) {
    for (const std::size_t span : Sizes{1, 100, 4096, 131'072, 10'000'000}) {
      for (const std::size_t window : Sizes{5, 100, 4096, 1 << 18}) {
        const ReadAll all = decompress(file, span, window);
        ASSERT_TRUE(all.text == text) << span << " " << window;
        ASSERT_EQ(all.what(), "");
      }
    }
  }
}

struct ZstdFile {
  const char* name;
  string file;
  string text;
  string what;  // of the damage; empty: none
};

TEST(Zstd, ReadsEveryKindOfFile) {
  string wrong_checksum = zstd_of("hello", true);
  wrong_checksum.back() ^= 1;
  const ZstdFile cases[] = {
      {"empty text", zstd_of(""), "", ""},
      {"many frames are one text", zstd_of("one ") + zstd_of("") + zstd_of("two", true), "one two",
       ""},
      {"a skippable frame may come first", zstd_skippable("note") + zstd_of("text"), "text", ""},
      {"a skippable frame may come last", zstd_of("text") + zstd_skippable(noise(9000)), "text",
       ""},
      {"only skippable frames", zstd_skippable("a") + zstd_skippable(""), "", ""},
      {"rubbish after a frame is noted", zstd_of("text") + "rubbish", "text",
       "what follows the zstd data is not zstd"},
      {"a cut skippable frame is noted", zstd_skippable("note").substr(0, 10), "",
       "zstd stream ends in the middle of a frame"},
      {"wrong checksum", wrong_checksum, "hello", "zstd checksum does not match"},
      {"frames after a wrong checksum are read", wrong_checksum + zstd_of(" again"), "hello again",
       "zstd checksum does not match"},
      {"twice compressed is not unwrapped", zstd_of(zstd_of("text")), zstd_of("text"), ""},
  };
  for (const ZstdFile& c : cases) {
    SCOPED_TRACE(c.name);
    for (const std::size_t window : Sizes{4, 5, 13, 4096}) {
      const ReadAll all = decompress(c.file, 3, window);
      EXPECT_EQ(all.text, c.text);
      EXPECT_EQ(all.what(), c.what);
    }
  }
}

TEST(Zstd, CutAnywhereGivesABeginningOfTheTextAndSaysSo) {
  const string text = synthetic_text(5'000);
  const string file = zstd_of(text, true);
  for (std::size_t size = 4; size < file.size(); ++size) {
    const ReadAll all = decompress(file.substr(0, size), 1'000);
    ASSERT_TRUE(all.text == text.substr(0, all.text.size())) << size;
    ASSERT_TRUE(all.damage) << size;
    EXPECT_EQ(all.damage->text_offset, all.text.size());
    EXPECT_EQ(all.damage->file_offset, size);
    EXPECT_EQ(all.damage->what, "zstd stream ends in the middle of a frame");
  }
}

TEST(Zstd, ABitFlippedAnywhereNeverPassesUnnoticed) {
  const string text = synthetic_text(2'000);
  const string file = zstd_of(text, true);
  for (std::size_t at = 4; at < file.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      string flipped = file;
      flipped[at] = static_cast<char>(flipped[at] ^ (1 << bit));
      const ReadAll all = decompress(flipped, 500);
      if (!all.damage && !all.error) {
        ASSERT_TRUE(all.text == text) << at;
      }
    }
  }
}

TEST(Zstd, DeliversTheBlocksBeforeCorruptData) {
  const string text = noise(1'000'000);  // blocks of 128 KiB, stored as they are
  const string half = zstd_of(text).substr(0, 600'000);
  string file = half;
  file.replace(131'072 * 3 + 3 * 3 + 12, 3, "\xff\xff\xff");  // near the fourth block's header
  EXPECT_GE(decompress(half, 1 << 20).text.size(), 131'072U * 4);
  for (const std::size_t span : Sizes{1, 1000, 1 << 20}) {
    const ReadAll all = decompress(file, span);
    ASSERT_TRUE(all.damage);
    EXPECT_GE(all.text.size(), 131'072U * 3);
    EXPECT_TRUE(all.text.substr(0, 131'072 * 3) == text.substr(0, 131'072 * 3));
    EXPECT_EQ(all.damage->text_offset, all.text.size());
  }
}

TEST(Zstd, AStoredBlockLongerThanItsFrameIsTheSameWhateverTheSizeOfReadsAndWindows) {
  // Magic, a window of 1 KiB and 600 bytes of text; then one block of 1000 bytes, as they are.
  const string frame = string("\x28\xb5\x2f\xfd\x40\x00\x58\x01\x41\x1f\x00", 11) + noise(1'000);
  for (const std::size_t span : Sizes{1, 100, 1 << 16}) {
    for (const std::size_t window : Sizes{11, 50, 500, 1 << 16}) {
      const ReadAll all = decompress(frame, span, window);
      EXPECT_EQ(all.text, "") << span << " " << window;
      EXPECT_EQ(all.what(), "zstd data is corrupt: Destination buffer is too small");
    }
  }
}

TEST(Zstd, AFrameThatDemandsGigabytesIsRefused) {
  // Magic, no checksum and no size, window descriptor 0xa8: 2 GiB; then one empty last block.
  const string frame("\x28\xb5\x2f\xfd\x00\xa8\x01\x00\x00", 9);
  const ReadAll all = decompress(frame);
  ASSERT_TRUE(all.error);
  EXPECT_EQ(all.error->code, base::Code::kLimit);
  EXPECT_EQ(all.error->message,
            "t.zst: the zstd frame at byte 0 needs a window of more than 128 MiB to decompress; "
            "compress it again without --long or --ultra");
}

}  // namespace
}  // namespace stepscope::bytes
