#include "ingest/kineto/index.h"

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace stepscope::ingest::kineto {
namespace {

// Text with room to read on both sides, as the scanner has it.
struct Padded {
  explicit Padded(const std::string& text)
      : whole(std::string(128, ' ') + text + std::string(128, '\0')) {}
  const char* begin() const { return whole.data() + 128; }
  std::string whole;
};

std::unique_ptr<Index> built(BuildIndex build, const std::string& text) {
  auto index = std::make_unique<Index>();
  const Padded padded(text);
  build(padded.begin(), text.size(), *index);
  return index;
}

std::string places_in(const Index& index, const std::string& text) {
  std::string marks;
  for (std::size_t i = 0; i < index.count; ++i) marks += text[index.places[i]];
  return marks;
}

struct IndexedText {
  const char* name;
  std::string text;
  std::string marks;  // the characters at the places
  std::size_t sound;  // npos: all of it
};

const std::size_t kAll = std::string::npos;
const std::vector<IndexedText> kIndexedTexts = {
    {"an event", R"({"ph": "X", "args": {"a": [1, 2], "b": {}}})", "{::{::{}}}", kAll},
    {"braces and colons in strings do not count", R"({"a{:}": "x\":{}"})", "{:}", kAll},
    {"an escaped backslash ends nothing", R"({"a": "\\", "b": 1})", "{::}", kAll},
    {"a bare word is not sound", R"({"a": N/A})", "{:", 6},
    {"true, false and null are", R"([true, false, null, -1.5e+3])", "", kAll},
    {"other lower-case words are not", R"({"a": nan})", "{:", 6},
    {"nor behind a sign", R"({"a": -nan})", "{:", 7},
    {"nor behind a digit", R"({"a": 2ur})", "{:", 7},
    {"nor behind a known one", R"({"a": nulls})", "{:", 6},
    {"nor one digit behind a known one", R"({"a": true1})", "{:", 6},
    {"nor across the end of a word of bits", std::string(63, ' ') + "-nan", "", 64},
    {"a known one across the end of a word of bits is sound", std::string(62, ' ') + "false", "",
     kAll},
    {"a comma before a bracket is not", R"({"a": 1, })", "{:", 9},
    {"two commas are not", R"({"a": 1,, "b": 2})", "{:", 8},
    {"a missing comma is not", R"({"a": 1 "b": 2})", "{:", 8},
    {"a line break in a string is not", "{\"a\": \"x\ny\"}", "{:", 8},
    {"empty lists and objects are sound", R"([[], {}, ""])", "{}", kAll},
};

TEST(Index, FindsKeysAndBracesAndWhereTextIsNotSound) {
  for (const IndexedText& c : kIndexedTexts) {
    SCOPED_TRACE(c.name);
    const auto index = built(build_index_portable, c.text);
    EXPECT_EQ(places_in(*index, c.text), c.marks);
    EXPECT_EQ(index->sound, c.sound == kAll ? c.text.size() : c.sound);
  }
}

bool same(const Index& a, const Index& b, std::size_t size) {
  const std::size_t words = (std::min(a.sound, size - 1) / 64) + 1;
  return a.count == b.count && a.sound == b.sound && a.any_odd == b.any_odd &&
         std::equal(a.places.begin(), a.places.begin() + static_cast<std::ptrdiff_t>(a.count),
                    b.places.begin()) &&
         std::equal(a.quotes.begin(), a.quotes.begin() + static_cast<std::ptrdiff_t>(words),
                    b.quotes.begin()) &&
         std::equal(a.odd.begin(), a.odd.begin() + static_cast<std::ptrdiff_t>(words),
                    b.odd.begin()) &&
         std::equal(a.balance.begin(), a.balance.begin() + static_cast<std::ptrdiff_t>(words),
                    b.balance.begin());
}

// Pieces that meet at every place of a word, in random order.
std::string random_text(std::minstd_rand& random) {
  const std::vector<std::string> pieces = {"{",
                                           "}",
                                           "[",
                                           "]",
                                           ",",
                                           ":",
                                           " ",
                                           "\n  ",
                                           "\"key\": ",
                                           "\"v\"",
                                           "12.5",
                                           "-3",
                                           "true",
                                           "null",
                                           "nan",
                                           "\\",
                                           "\"",
                                           "\"a\\\"b\"",
                                           "\xc3\xa9",
                                           "\t",
                                           "{\"ph\": \"X\", \"ts\": 1.5}, ",
                                           "[[1, 2], []]",
                                           std::string(70, ' '),
                                           "x",
                                           std::string(64, '\\')};
  std::string text;
  const std::size_t wanted = 1 + random() % 700;
  while (text.size() < wanted) text += pieces[random() % pieces.size()];
  return text;
}

TEST(Index, IsTheSameOnEveryKindOfMachine) {
  std::minstd_rand random(7);
  std::vector<BuildIndex> others;
  for (const BuildIndex build : {build_index_avx2(), build_index_avx512(), build_index_neon()}) {
    if (build != nullptr) others.push_back(build);
  }
  for (int round = 0; round < 3000; ++round) {
    const std::string text = random_text(random);
    const auto expected = built(build_index_portable, text);
    for (const BuildIndex build : others) {
      const auto found = built(build, text);
      ASSERT_TRUE(same(*expected, *found, text.size())) << "round " << round << ": " << text;
    }
  }
}

}  // namespace
}  // namespace stepscope::ingest::kineto
