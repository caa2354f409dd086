#include "bytes/gzip_decoder.h"

#include <gtest/gtest.h>

#include "bytes/files_for_tests.h"

namespace stepscope::bytes {
namespace {

using std::string;
using std::string_literals::operator""s;

ReadAll inflate(string file, std::size_t span_bytes = 1 << 16, std::size_t window = 256 * 1024) {
  const auto source = memory_source("t.gz", std::move(file), {.input_window_bytes = window});
  EXPECT_EQ(source->encoding(), Encoding::kGzip);
  return read_all(*source, span_bytes);
}

TEST(Gzip, GivesTheTextWhateverTheSizeOfReadsAndWindows) {
  const string text = synthetic_text(300'000);
  const string stored = noise(100'000);
  for (const string& file : {gzip_of(text, 0), gzip_of(text, 1), gzip_of(text, 3)}) {
    for (const std::size_t span : Sizes{1, 7, 100, 4096, 32'768, 65'537, 10'000'000}) {
      for (const std::size_t window : Sizes{5, 100, 4096, 1 << 18}) {
        const ReadAll all = inflate(file, span, window);
        ASSERT_TRUE(all.text == text) << span << " " << window;
        ASSERT_EQ(all.what(), "");
      }
    }
  }
  EXPECT_EQ(inflate(gzip_of(stored), 999, 999).text, stored);
}

TEST(Gzip, GivesTheTextForRandomSizesOfReads) {
  const string text = synthetic_text(1'000'000);
  auto random = random_from(7);
  for (int round = 0; round < 20; ++round) {
    const auto source =
        memory_source("t.gz", gzip_of(text), {.input_window_bytes = 1 + random() % 50'000});
    string got;
    std::vector<char> buffer(200'000);
    while (true) {
      const std::size_t span = 1 + random() % (round % 2 == 0 ? 200'000 : 3'000);
      const auto count = source->read(std::span(buffer).first(span));
      ASSERT_TRUE(count);
      if (*count == 0) break;
      got.append(buffer.data(), *count);
      ASSERT_EQ(source->text_position(), got.size());
    }
    ASSERT_TRUE(got == text);
    EXPECT_EQ(source->file_position(), *source->file_size());
  }
}

struct GzipFile {
  const char* name;
  string file;
  string text;
  string what;  // of the damage; empty: none
};

TEST(Gzip, ReadsEveryKindOfFile) {
  const string all_fields = "\x03\0abcname\0comment\0\x12\x34"s;
  string wrong_crc = gzip_of("hello");
  wrong_crc[wrong_crc.size() - 6] ^= 1;
  string wrong_length = gzip_of("hello");
  wrong_length[wrong_length.size() - 1] ^= 1;
  const GzipFile cases[] = {
      {"empty text", gzip_of(""), "", ""},
      {"many members are one text", gzip_of("one ") + gzip_of("") + gzip_of("two"), "one two", ""},
      {"zeros after the last member are padding", gzip_of("text") + string(700, '\0'), "text", ""},
      {"a member after padding counts", gzip_of("a") + string(9, '\0') + gzip_of("b"), "ab", ""},
      {"rubbish after a member is noted", gzip_of("text") + "rubbish", "text",
       "what follows the gzip data is not gzip"},
      {"rubbish after padding is noted", gzip_of("text") + "\0\0x"s, "text",
       "what follows the gzip data is not gzip"},
      {"one byte of a next member is a cut header", gzip_of("text") + "\x1f", "text",
       "gzip stream ends in the middle of a header"},
      {"an unknown method is noted", gzip_of("text") + "\x1f\x8b\x07 more", "text",
       "gzip member with an unknown compression method"},
      {"extra field", gzip_with_header("text", 4, "\x03\0abc"s), "text", ""},
      {"name", gzip_with_header("text", 8, "trace.json\0"s), "text", ""},
      {"comment", gzip_with_header("text", 16, "made by\0"s), "text", ""},
      {"header checksum", gzip_with_header("text", 2, "\x12\x34"), "text", ""},
      {"all fields", gzip_with_header("text", 1 + 2 + 4 + 8 + 16, all_fields), "text", ""},
      {"name without end", gzip_with_header("", 8, "name").substr(0, 14), "",
       "gzip stream ends in the middle of a header"},
      {"wrong crc", wrong_crc, "hello", "gzip checksum does not match"},
      {"wrong length", wrong_length, "hello", "gzip checksum does not match"},
      {"members after a wrong crc are read", wrong_crc + gzip_of(" again"), "hello again",
       "gzip checksum does not match"},
      {"header only", "\x1f\x8b\x08"s, "", "gzip stream ends in the middle of a header"},
      {"twice compressed is not unwrapped", gzip_of(gzip_of("text")), gzip_of("text"), ""},
  };
  for (const GzipFile& c : cases) {
    SCOPED_TRACE(c.name);
    for (const std::size_t window : Sizes{4, 5, 13, 4096}) {
      const ReadAll all = inflate(c.file, 3, window);
      EXPECT_EQ(all.text, c.text);
      EXPECT_EQ(all.what(), c.what);
    }
  }
}

TEST(Gzip, CutAnywhereGivesABeginningOfTheTextAndSaysSo) {
  const string text = synthetic_text(5'000);
  const string file = gzip_of(text);
  std::size_t longest = 0;
  for (std::size_t size = 3; size < file.size(); ++size) {
    const ReadAll all = inflate(file.substr(0, size), 1'000);
    ASSERT_TRUE(all.text == text.substr(0, all.text.size())) << size;
    ASSERT_TRUE(all.damage) << size;
    EXPECT_EQ(all.damage->text_offset, all.text.size());
    EXPECT_EQ(all.damage->file_offset, size < 10 ? 0 : size);
    EXPECT_NE(all.damage->what.find("gzip stream ends in the middle of a "), string::npos);
    ASSERT_GE(all.text.size(), longest);  // a longer beginning never gives less text
    longest = all.text.size();
  }
  EXPECT_EQ(longest, text.size());  // only the checksum was missing
}

TEST(Gzip, ABitFlippedAnywhereNeverPassesUnnoticed) {
  const string text = synthetic_text(3'000);
  const string file = gzip_of(text);
  for (std::size_t at = 3; at < file.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      string flipped = file;
      flipped[at] = static_cast<char>(flipped[at] ^ (1 << bit));
      const ReadAll all = inflate(flipped, 500);
      ASSERT_FALSE(all.error);
      // Time and system in the header, and bits that fill the last byte, do not matter.
      if (!all.damage) {
        ASSERT_TRUE(all.text == text) << at;
      }
      if (all.damage) {
        ASSERT_LE(all.damage->text_offset, all.text.size());
      }
    }
  }
}

TEST(Gzip, DeliversWhatComesBeforeCorruptData) {
  const string text = synthetic_text(400'000);
  string good = "\x1f\x8b\x08\0\0\0\0\0\0\0"s;
  for (std::size_t at = 0; at < text.size(); at += 50'000) {
    good +=
        "\0\x50\xc3\xaf\x3c"s + text.substr(at, 50'000);  // a stored block: length and its inverse
  }
  const GzipFile cases[] = {
      {"block type 3", good + "\x07", text, "gzip data is corrupt: a block that cannot be"},
      {"stored length without its inverse", good + "\0\x50\xc3\x50\xc3"s, text,
       "gzip data is corrupt: a block that cannot be"},
  };
  for (const GzipFile& c : cases) {
    SCOPED_TRACE(c.name);
    for (const std::size_t span : Sizes{1, 1000, 100'000, 1'000'000}) {
      const ReadAll all = inflate(c.file + string(500, 'x'), span);
      ASSERT_TRUE(all.text == c.text);
      ASSERT_TRUE(all.damage);
      EXPECT_EQ(all.damage->what, c.what);
      EXPECT_EQ(all.damage->text_offset, c.text.size());
      EXPECT_LE(all.damage->file_offset, c.file.size() + 8);
      EXPECT_GE(all.damage->file_offset + 8, c.file.size());
    }
  }
}

TEST(Gzip, NothingFalseIsDeliveredBeforeABadReference) {
  const string text = synthetic_text(1'000);
  // A stored block of 1000 bytes, then a copy of 3 bytes from 32768 bytes before.
  const string file = "\x1f\x8b\x08\0\0\0\0\0\0\0\0\xe8\x03\x17\xfc"s + text + "\x03\xde\xff\x0f"s;
  for (const std::size_t span : Sizes{1, 10, 700, 900, 100'000}) {
    for (const std::size_t rest : Sizes{0, 500}) {
      const ReadAll all = inflate(file + string(rest, 'x'), span);
      EXPECT_GE(all.text.size(), text.size() - ISAL_DEF_MAX_MATCH);
      EXPECT_TRUE(text.starts_with(all.text));
      EXPECT_EQ(all.what(), "gzip data is corrupt: a reference to before the start");
      EXPECT_EQ(all.damage->text_offset, all.text.size());
    }
  }
}

TEST(Gzip, ABombOnlyStreams) {
  string zeros;
  zeros.assign(100'000'000, '0');
  const string file = gzip_of(zeros, 3);
  ASSERT_LT(file.size(), 1'000'000U);
  const auto source = memory_source("bomb.gz", file);
  std::vector<char> buffer(1 << 16);
  while (true) {
    const auto got = source->read(buffer);
    ASSERT_TRUE(got);
    if (*got == 0) break;
  }
  EXPECT_EQ(source->text_position(), 100'000'000U);
}

}  // namespace
}  // namespace stepscope::bytes
