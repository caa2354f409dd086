// Files that are written whole or not at all, and inputs that are not overwritten.
#include "cli/output/output_file.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/temp_folder_for_tests.h"

namespace stepscope::cli {

namespace {

class OutputFileTest : public testing::Test {
 protected:
  std::string content(const std::string& path) const {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  base::TempFolder folder_;
  Interrupt interrupt_;
};

TEST_F(OutputFileTest, AppearsOnlyWhenComplete) {
  const std::string path = folder_ / "out.json";
  auto file = OutputFile::create(path, interrupt_);
  ASSERT_TRUE(file);
  ASSERT_TRUE(file->write("one "));
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_TRUE(std::filesystem::exists(path + ".partial"));
  ASSERT_TRUE(file->write("two"));
  ASSERT_TRUE(file->finish());
  EXPECT_EQ(content(path), "one two");
  EXPECT_FALSE(std::filesystem::exists(path + ".partial"));
}

TEST_F(OutputFileTest, LeavesTheOldFileAndNothingElseWhenAbandoned) {
  const std::string path = folder_ / "out.json";
  std::ofstream(path) << "old";
  {
    auto file = OutputFile::create(path, interrupt_);
    ASSERT_TRUE(file);
    ASSERT_TRUE(file->write("new"));
  }
  EXPECT_EQ(content(path), "old");
  EXPECT_FALSE(std::filesystem::exists(path + ".partial"));
}

TEST_F(OutputFileTest, WritesDevicesInPlace) {
  auto file = OutputFile::create("/dev/null", interrupt_);
  ASSERT_TRUE(file);
  EXPECT_TRUE(file->write("x"));
  EXPECT_TRUE(file->finish());
  EXPECT_FALSE(std::filesystem::exists("/dev/null.partial"));
}

TEST_F(OutputFileTest, SaysWhatCannotBeWritten) {
  const auto file = OutputFile::create(folder_ / "no/such/folder", interrupt_);
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().message, folder_ / "no/such/folder: No such file or directory");
}

}  // namespace

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
