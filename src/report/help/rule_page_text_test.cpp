// Markdown of rule pages on a terminal.
#include <gtest/gtest.h>

#include "report/help/help.h"

namespace stepscope::report {
namespace {

TEST(RulePageText, HeadingsCodeAndLinksAsPeopleReadThem) {
  EXPECT_EQ(rule_page_text("# a-rule: A title\n"
                           "\n"
                           "**What it means.** See [stalls](../metrics/stalls.md), `a[0](1)` and "
                           "**this**.\n"
                           "\n"
                           "## What to do\n"
                           "\n"
                           "PyTorch:\n"
                           "\n"
                           "```\n"
                           "x = y[0](**z)\n"
                           "```\n",
                           {}),
            "What it means\n"
            "  See stalls, `a[0](1)` and this.\n"
            "\n"
            "What to do\n"
            "\n"
            "  PyTorch:\n"
            "\n"
            "    x = y[0](**z)\n");
}

TEST(RulePageText, LinesOfOneParagraphAreJoined) {
  EXPECT_EQ(rule_page_text("# a-rule: A title\n"
                           "\n"
                           "**Why.** One\n"
                           "sentence.\n"
                           "- an item\n"
                           "  of two lines\n"
                           "- another\n"
                           "\n"
                           "The\n"
                           "end.",
                           {}),
            "Why\n"
            "  One sentence.\n"
            "  - an item of two lines\n"
            "  - another\n"
            "\n"
            "  The end.\n");
}

TEST(RulePageText, NothingForNothing) { EXPECT_EQ(rule_page_text("", {}), ""); }

}  // namespace
}  // namespace stepscope::report
