#include "cli/output/output_file.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

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
}  // namespace stepscope::cli
