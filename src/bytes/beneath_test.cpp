#include "bytes/beneath.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "base/temp_folder_for_tests.h"
#include "bytes/source_within.h"

namespace stepscope::bytes {
namespace {

namespace fs = std::filesystem;

// <base>/runs is the folder, <base>/secret lies outside.
class Beneath : public testing::Test {
 protected:
  Beneath() {
    base_.write("runs/a/b/file", "inside");
    base_.write("secret/file", "outside");
    root_ = base_ / "runs";
  }

  std::string read(const std::string& below) const {
    return whole_file(root_, root_ + "/" + below).value_or("nothing");
  }

  base::TempFolder base_;
  std::string root_;
};

TEST_F(Beneath, WhatLiesInTheFolderIsOpenedAlsoThroughLinks) {
  fs::create_symlink(root_ + "/a/b", root_ + "/absolute");
  fs::create_symlink("a/../a/b", root_ + "/relative");
  EXPECT_EQ(read("a/b/file"), "inside");
  EXPECT_EQ(read("absolute/file"), "inside");
  EXPECT_EQ(read("relative/file"), "inside");
  EXPECT_EQ(read("a/none"), "nothing");
}

TEST_F(Beneath, WhatLiesOutsideIsNotOpened) {
  fs::create_symlink(base_ / "secret", root_ + "/link");
  fs::create_symlink("../secret/file", root_ + "/file");
  for (const char* path : {"link/file", "file", "../secret/file", "a/../../secret/file"}) {
    EXPECT_EQ(read(path), "nothing") << path;
    struct stat facts{};
    EXPECT_EQ(stat_beneath(root_, root_ + "/" + path, facts), -1);
    EXPECT_EQ(errno, EACCES) << path;
  }
}

TEST_F(Beneath, ALinkThatCameAfterTheLookIsNotFollowed) {
  fs::create_symlink(root_ + "/a", root_ + "/link");
  fs::create_symlink(root_ + "/a/b/file", root_ + "/last");
  for (const int flags : {O_RDONLY, O_PATH}) {
    EXPECT_EQ(open_without_links(root_, "link/b/file", flags), -1);
    EXPECT_TRUE(errno == ELOOP || errno == ENOTDIR);
    EXPECT_EQ(open_without_links(root_, "last", flags), -1);
    EXPECT_EQ(errno, ELOOP);
    EXPECT_EQ(open_without_links(root_, "a/../a/b/file", flags), -1);
    EXPECT_EQ(errno, EINVAL);
    const int file = open_without_links(root_, "a/b/file", flags);
    EXPECT_GE(file, 0);
    ::close(file);
  }
}

TEST_F(Beneath, SomebodyWhoChangesLinksAllTheTimeGainsNothing) {
  fs::create_symlink(root_ + "/a/b", root_ + "/to_inside");
  fs::create_symlink(base_ / "secret", root_ + "/to_outside");
  fs::create_symlink(root_ + "/a/b", root_ + "/changing");
  std::atomic<bool> done = false;
  std::thread changing([&] {
    while (!done) {
      for (const char* target : {"/to_outside", "/to_inside"}) {
        fs::copy_symlink(root_ + target, root_ + "/next");
        fs::rename(root_ + "/next", root_ + "/changing");
      }
    }
  });
  int inside = 0;
  for (int i = 0; i < 3000; ++i) {
    const std::string text = read("changing/file");
    EXPECT_NE(text, "outside");
    inside += text == "inside" ? 1 : 0;
  }
  done = true;
  changing.join();
  EXPECT_GT(inside, 0);
}

TEST(IsWithin, AFolderIsNotWithinOneWhoseNameItBeginsWith) {
  EXPECT_TRUE(is_within("/runs", "/runs"));
  EXPECT_TRUE(is_within("/runs/a", "/runs"));
  EXPECT_FALSE(is_within("/runs2/a", "/runs"));
  EXPECT_FALSE(is_within("/", "/runs"));
  EXPECT_TRUE(is_within("/runs", "/"));
}

}  // namespace
}  // namespace stepscope::bytes
