#include "bytes/text_checks.h"

#include <gtest/gtest.h>

#include "bytes/files_for_tests.h"
#include "bytes/zstd_decoder.h"

namespace stepscope::bytes {
namespace {

using std::string;

// What `zstd --check` writes behind "one" and "two!".
constexpr std::uint32_t kOne = 0x2408a1f6, kTwo = 0xf45706bd;

TEST(TextChecks, ComparesEachPartOnceAllOfItWasAdded) {
  TextChecks checks;
  checks.begin(0);
  checks.add(0, "on");
  checks.add(2, "e");
  checks.end(3, 20, kOne);
  EXPECT_FALSE(checks.damage(3));
  checks.begin(3);
  checks.end(7, 50, kTwo ^ 1);
  checks.add(3, "two");
  EXPECT_FALSE(checks.damage(6));
  checks.add(6, "!");
  const auto damage = checks.damage(7);
  ASSERT_TRUE(damage);
  EXPECT_EQ(damage->text_offset, 7U);
  EXPECT_EQ(damage->file_offset, 50U);
  EXPECT_EQ(damage->what, "zstd checksum does not match");
}

TEST(TextChecks, TellsTheFirstThatIsWrong) {
  TextChecks checks;
  checks.begin(0);
  checks.end(3, 20, kOne + 1);
  checks.begin(3);
  checks.end(7, 50, kTwo + 1);
  checks.add(0, "onetwo!");
  ASSERT_TRUE(checks.damage(7));
  EXPECT_EQ(checks.damage(7)->text_offset, 3U);
}

TEST(TextChecks, TextBetweenPartsAndTextAddedTwiceCountsForNothing) {
  TextChecks checks;
  checks.begin(4);
  checks.end(7, 20, kOne);
  checks.begin(9);
  checks.add(0, "zeroon");
  checks.add(2, "roone..t");
  checks.add(0, "zero");
  checks.add(8, ".two!");
  checks.end(13, 50, kTwo);
  checks.begin(13);  // of no text, and with another sum than that has
  checks.end(13, 60, 0);
  ASSERT_TRUE(checks.damage(13));
  EXPECT_EQ(checks.damage(13)->file_offset, 60U);
}

TEST(TextChecks, TextThatWasLeftOutMakesItsSumWrongAndNoOther) {
  TextChecks first, middle, last;
  for (TextChecks* const checks : {&first, &middle, &last}) {
    for (const std::uint64_t begin : {0U, 3U, 6U}) {
      checks->begin(begin);
      checks->end(begin + 3, 20 + begin, kOne);
    }
  }
  first.add(3, "oneone");
  EXPECT_EQ(first.damage(9)->text_offset, 3U);
  middle.add(0, "oneo");
  middle.add(5, "eone");
  EXPECT_EQ(middle.damage(9)->text_offset, 6U);
  last.add(0, "oneoneo");
  EXPECT_FALSE(last.damage(7));
  EXPECT_EQ(last.damage(9)->text_offset, 9U);
  last.add(7, "ne");
  EXPECT_FALSE(last.damage(9));
}

TEST(TextChecks, OfManyPartsWithoutTextTheFirstThatIsWrongIsTold) {
  constexpr std::uint32_t kNothing = 0x51d8e999;
  TextChecks checks;
  for (std::uint64_t i = 0; i < 1'000; ++i) {
    checks.begin(0);
    checks.end(0, i, i < 300 ? kNothing : 1);
  }
  checks.begin(0);
  checks.add(0, "one");
  checks.end(3, 2'000, kOne + 1);
  ASSERT_TRUE(checks.damage(3));
  EXPECT_EQ(checks.damage(3)->file_offset, 300U);
}

struct Outcome {
  string text, what;
  std::uint64_t text_offset = 0, file_offset = 0;
  bool operator==(const Outcome&) const = default;
};

Outcome outcome_of(ReadAll all) {
  Outcome outcome{std::move(all.text), all.what()};
  if (all.damage) outcome.text_offset = all.damage->text_offset;
  if (all.damage) outcome.file_offset = all.damage->file_offset;
  return outcome;
}

// zstd compares the sums.
Outcome by_zstd(const string& file) {
  InputWindow in(RawFile::in_memory("t.zst", file), 4096);
  ZstdDecoder decoder;
  ReadAll all;
  std::vector<char> buffer(1000);
  while (true) {
    const auto got = decoder.read(in, buffer);
    if (!got) all.error = got.error();
    if (!got || *got == 0) break;
    all.text.append(buffer.data(), *got);
  }
  if (!all.error) all.damage = decoder.damage();
  return outcome_of(std::move(all));
}

Outcome by_the_source(const string& file) {
  return outcome_of(read_all(*memory_source("t.zst", file), 777));
}

// The source leaves them, after some of the text, to who adds it in other pieces, and late.
Outcome by_the_reader(const string& file, std::minstd_rand& random) {
  const auto source = memory_source("t.zst", file);
  string head(random() % 300, '\0');
  const auto got = source->read(head);
  head.resize(got ? *got : 0);
  TextChecks* const checks = source->leave_checks();
  ReadAll all;
  if (got) {
    all = read_all(*source, 500);
  } else {
    all.error = got.error();
  }
  all.text = head + all.text;
  const std::string_view text = all.text;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t again = std::min<std::size_t>(at, random() % 20);
    const std::string_view piece = text.substr(at - again, 1 + again + random() % 900);
    checks->add(at - again, piece);
    at += piece.size() - again;
  }
  if (!all.error) all.damage = source->damage();
  return outcome_of(std::move(all));
}

TEST(TextChecks, SayWhatZstdSaysOfDamagedFiles) {
  const string text = synthetic_text(6'000);
  const string file = zstd_skippable("note") + zstd_frames_of(text.substr(0, 3'000), 1'000) +
                      zstd_of("no sum") + zstd_frames_of("", 1) + zstd_skippable("") +
                      zstd_frames_of(text.substr(3'000), 700);
  auto random = random_from(5);
  EXPECT_EQ(by_the_source(file).what, "");
  for (int i = 0; i < 4'000; ++i) {
    string damaged = file;
    const std::size_t at = 4 + random() % (file.size() - 4);
    damaged[at] = static_cast<char>(damaged[at] ^ 1 << random() % 8);
    if (i % 4 == 0) damaged.resize(4 + random() % (file.size() - 4));
    const Outcome expected = by_zstd(damaged);
    ASSERT_EQ(by_the_source(damaged), expected) << i;
    ASSERT_EQ(by_the_reader(damaged, random), expected) << i;
  }
}

TEST(TextChecks, AreLeftByZstdAlone) {
  EXPECT_NE(memory_source("t.zst", zstd_of("text"))->leave_checks(), nullptr);
  EXPECT_EQ(memory_source("t.gz", gzip_of("text"))->leave_checks(), nullptr);
  EXPECT_EQ(memory_source("t.json", "[]")->leave_checks(), nullptr);
}

}  // namespace
}  // namespace stepscope::bytes
