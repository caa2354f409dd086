// Machines as `stepscope info` shows them.
#include <array>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/info/info_text.h"

namespace stepscope::report {
namespace {

using testing::HasSubstr;
using testing::Not;

MachineInfo machine(std::size_t unseen) {
  MachineInfo info{.path = "node-a/system.scope",
                   .host = "a",
                   .start_unix_ns = 1'700'000'000'000'000'000,
                   .span_ns = 4'000'000'000,
                   .samples = 5,
                   .series = 2,
                   .values = 10,
                   .finished = true};
  for (std::size_t i = 0; i < unseen; ++i) {
    info.unseen.push_back({"nvml", "part " + std::to_string(i)});
  }
  return info;
}

TEST(MachineInfo, SaysWhatIsKnownAndNothingElse) {
  const std::array known = {machine(0)};
  EXPECT_EQ(machines_text(known, {}), R"(samples of a machine node-a/system.scope

  machine  a
  sampled  from 2023-11-14 22:13:20.000 UTC, 4.00 s long
  samples  10 values of 2 series at 5 moments

Nothing odd was met.
)");
  std::array unknown = {machine(0)};
  unknown[0].host.clear();
  unknown[0].start_unix_ns = 0;
  EXPECT_THAT(machines_text(unknown, {}), HasSubstr("\n  sampled  4.00 s long\n"));
  unknown[0].samples = 0;
  EXPECT_THAT(machines_text(unknown, {}), HasSubstr("it holds no samples"));
}

TEST(MachineInfo, TellsMostOfWhatWasNotSeenAndAllWhereAsked) {
  const std::array blind = {machine(10)};
  EXPECT_THAT(machines_text(blind, {}),
              HasSubstr("and 2 more; `stepscope info --all` shows every one"));
  EXPECT_THAT(machines_text(blind, {}), Not(HasSubstr("part 8")));
  InfoTextOptions options;
  options.all = true;
  EXPECT_THAT(machines_text(blind, options), HasSubstr("nvml: part 9"));
}

}  // namespace
}  // namespace stepscope::report
