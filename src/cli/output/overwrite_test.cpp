#include "cli/output/overwrite.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/temp_folder_for_tests.h"

namespace stepscope::cli {
namespace {

using testing::HasSubstr;

class Overwrite : public testing::Test {
 protected:
  void SetUp() override {
    folder_.write("run/a.json", "[]");
    folder_.write("run/notes.txt", "x");
    folder_.write("page.html", "<!doctype html>");
  }
  std::string at(const std::string& name) const { return folder_ / name; }

  base::TempFolder folder_;
};

TEST_F(Overwrite, WhatIsReadIsNotWritten) {
  const std::vector<std::string> file = {at("run/a.json")};
  const std::vector<std::string> run = {at("run")};
  const base::Status same = check_not_an_input("-o", at("run/../run/a.json"), file);
  ASSERT_FALSE(same);
  EXPECT_THAT(same.error().message, HasSubstr("this is what is being read"));
  EXPECT_FALSE(check_not_an_input("-o", at("run/a.json"), run));
  EXPECT_TRUE(check_not_an_input("-o", at("run/notes.txt"), run));
  EXPECT_TRUE(check_not_an_input("-o", at("run/new.json"), run));
  EXPECT_TRUE(check_not_an_input("-o", at("page.html"), run));
  EXPECT_TRUE(check_not_an_input("-o", "-", run));
}

TEST_F(Overwrite, APageReplacesOnlyAPage) {
  EXPECT_TRUE(check_may_hold_page("--html", at("page.html")));
  EXPECT_TRUE(check_may_hold_page("--html", at("new.html")));
  const base::Status trace = check_may_hold_page("--html", at("run/a.json"));
  ASSERT_FALSE(trace);
  EXPECT_THAT(trace.error().message, HasSubstr("--html takes the file to write"));
}

}  // namespace
}  // namespace stepscope::cli
