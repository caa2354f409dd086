#include "base/control_groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stepscope::base {
namespace {

using testing::ElementsAre;

TEST(ControlGroups, LinesOfBothVersions) {
  const auto groups = control_groups("4:cpu,cpuacct:/job_1\nnonsense\n0::/a:b\n1:name=systemd:/");
  ASSERT_EQ(groups.size(), 3U);
  EXPECT_TRUE(groups[0].has_controller("cpu"));
  EXPECT_TRUE(groups[0].has_controller("cpuacct"));
  EXPECT_FALSE(groups[0].has_controller("cpua"));
  EXPECT_EQ(groups[0].path, "/job_1");
  EXPECT_FALSE(groups[0].is_unified());
  EXPECT_TRUE(groups[1].is_unified());
  EXPECT_EQ(groups[1].path, "/a:b");
  EXPECT_EQ(groups[2].path, "/");
}

TEST(ControlGroups, SharedHierarchiesHaveAFolderOfAllNames) {
  const auto groups = control_groups("4:cpu,cpuacct:/\n3:memory:/\n0::/\n");
  ASSERT_EQ(groups.size(), 3U);
  EXPECT_THAT(groups[0].mounts("/m"), ElementsAre("/m/cpu,cpuacct", "/m/cpu", "/m/cpuacct"));
  EXPECT_THAT(groups[1].mounts("/m"), ElementsAre("/m/memory"));
  EXPECT_THAT(groups[2].mounts("/m"), ElementsAre("/m", "/m/unified"));
  EXPECT_THAT(control_groups("4:cpuacct,cpu:/").front().mounts("/m"),
              ElementsAre("/m/cpuacct,cpu", "/m/cpu,cpuacct", "/m/cpuacct", "/m/cpu"));
}

TEST(ControlGroups, FoldersUpToTheMount) {
  EXPECT_THAT(folders_up("/m", "/a/b"), ElementsAre("/m/a/b", "/m/a", "/m"));
  EXPECT_THAT(folders_up("/m", "/"), ElementsAre("/m"));
  EXPECT_THAT(folders_up("/m", ""), ElementsAre("/m"));
  EXPECT_THAT(folders_up("/m", "odd"), ElementsAre("/modd", "/mod", "/mo", "/m"));
}

}  // namespace
}  // namespace stepscope::base
