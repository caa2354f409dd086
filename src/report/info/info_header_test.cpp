// Versions and devices as headers name them.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/info/info_parts.h"

namespace stepscope::report {
namespace {

using testing::ElementsAre;

TEST(InfoHeader, SpellsVersionsAsVendorsDo) {
  EXPECT_EQ(cuda_version_text("13000"), "13.0");
  EXPECT_EQ(cuda_version_text("12040"), "12.4");
  EXPECT_EQ(cuda_version_text("\"12.4\""), "12.4");
  EXPECT_EQ(cuda_version_text("0"), "");
  EXPECT_EQ(hip_version_text("60443483"), "6.4.43483");
  EXPECT_EQ(hip_version_text("-1"), "");
  EXPECT_EQ(cupti_version_text("18"), "API 18");
  EXPECT_EQ(cupti_version_text("130001"), "13.0.1");
}

trace::Header header_with(std::vector<std::pair<std::string, std::string>> metadata) {
  trace::Header header;
  header.metadata = std::move(metadata);
  return header;
}

TEST(InfoHeader, ListsVersionsOnceAndInOneOrder) {
  std::vector<NamedText> versions;
  trace::Header first = header_with({{"cupti_version", "18"}});
  first.distributed.emplace().nccl_version = "2.17.1";
  add_versions(first, versions);
  add_versions(first, versions);
  add_versions(header_with({{"cuda_runtime_version", "12000"}, {"unknown", "1"}}), versions);
  std::vector<std::string> names;
  names.reserve(versions.size());
  for (const NamedText& version : versions) names.push_back(version.name + " " + version.text);
  EXPECT_THAT(names, ElementsAre("CUDA 12.0", "CUPTI API 18", "NCCL 2.17.1"));
}

TEST(InfoHeader, KnowsWhatWasRecorded) {
  std::vector<std::string> settings;
  add_settings(header_with({{"with_stack", "1"}, {"record_shapes", "1"}, {"with_flops", "0"}}),
               settings);
  EXPECT_THAT(settings, ElementsAre("shapes", "stacks"));
  EXPECT_FALSE(lists_devices(header_with({})));
  EXPECT_TRUE(lists_devices(header_with({{"deviceProperties", "[]"}})));
}

TEST(InfoHeader, CountsAlikeDevicesOfOneProcess) {
  trace::Header header;
  for (std::int64_t id = 0; id < 8; ++id) {
    trace::DeviceProperties device;
    device.id = id;
    device.name = "NVIDIA H200";
    header.devices.push_back(device);
  }
  std::vector<DeviceInfo> devices;
  add_devices(header, devices);
  add_devices(header, devices);  // of another rank: the same host, as far as anybody knows
  ASSERT_EQ(devices.size(), 1u);
  EXPECT_EQ(devices[0].visible, 8u);
  add_devices(trace::Header{}, devices);
  EXPECT_EQ(devices.size(), 1u);
}

}  // namespace
}  // namespace stepscope::report
