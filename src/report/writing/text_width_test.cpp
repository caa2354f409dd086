// Widths of wide and combining characters, and cuts.
#include "report/writing/text_width.h"

#include <string>

#include <gtest/gtest.h>

namespace stepscope::report {
namespace {

TEST(TextWidth, CountsColumnsNotBytes) {
  const std::pair<std::string, std::size_t> cases[] = {
      {"", 0},   {"abc", 3},  {"µs", 2}, {"日本", 4},  {"e\u0301", 1}, {"ﾊ", 1},
      {"Ａ", 2}, {"한국", 4}, {"🚀", 2}, {"a\xff", 2}, {"…", 1},       {"\xe6\x97", 2}};
  for (const auto& [text, width] : cases) EXPECT_EQ(text_width(text), width) << text;
}

TEST(TextWidth, CutsWithAnEllipsisThatCounts) {
  EXPECT_EQ(cut_end("abcdef", 6), "abcdef");
  EXPECT_EQ(cut_end("abcdef", 5), "abcd…");
  EXPECT_EQ(cut_end("abcdef", 1), "…");
  EXPECT_EQ(cut_end("abcdef", 0), "");
  EXPECT_EQ(cut_end("日本語", 4), "日…");  // half a character is none
  EXPECT_EQ(cut_middle("runs/a/long/way/rank3.json", 16), "runs/…rank3.json");
  EXPECT_EQ(cut_middle("short", 16), "short");
  for (std::size_t width = 0; width < 12; ++width) {
    EXPECT_LE(text_width(cut_middle("日本語日本語", width)), width);
  }
}

TEST(TextWidth, NothingMovesTheCursor) {
  EXPECT_EQ(printable("a\x1b[31mb\n"), "a\xef\xbf\xbd[31mb\xef\xbf\xbd");
  EXPECT_EQ(printable("a\xff"
                      "b"),
            "a\xef\xbf\xbd"
            "b");
  EXPECT_EQ(printable("naïve 日本"), "naïve 日本");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "\xef\xbf\xbd"
            "31m");  // CSI as one character
}

TEST(TextWidth, RefusesWhatIsNotUtf8) {
  for (const std::string text : {"\xc0\x80", "\xed\xa0\x80", "\xf5\x80\x80\x80", "\xe0\x80\x80"}) {
    std::size_t at = 0;
    EXPECT_EQ(next_character(text, at), char32_t{0xfffd});
    EXPECT_EQ(at, 1u);
  }
}

}  // namespace
}  // namespace stepscope::report
