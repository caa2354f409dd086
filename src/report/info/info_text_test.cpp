// What `stepscope info` prints of small runs.
#include "report/info/info_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/info/info_facts.h"
#include "report/writing/text_width.h"

namespace stepscope::report {
namespace {

using testing::HasSubstr;
using testing::Not;

WindowInfo window(std::int32_t rank, const std::string& path) {
  WindowInfo info;
  info.rank = rank;
  info.source = {.path = path, .encoding = "gzip", .file_bytes = 2048, .text_bytes = 40'960};
  info.span_ns = 1'000'000;
  info.events = 1'234;
  info.device_work = 100;
  info.steps = {.source = trace::StepSource::kProfilerStep,
                .count = 2,
                .first = 3,
                .last = 4,
                .total_ns = 800'000,
                .shortest_ns = 300'000,
                .longest_ns = 500'000};
  return info;
}

RunInfo run_of(std::vector<WindowInfo> windows) {
  RunInfo info;
  info.ranks = windows.size();
  for (const WindowInfo& each : windows) {
    info.events += each.events;
    info.device_work += each.device_work;
    info.file_bytes += each.source.file_bytes;
    info.text_bytes += each.source.text_bytes;
    info.steps.add(each.steps);
  }
  info.end_unix_ns = 1'000'000;
  info.windows = std::move(windows);
  info.categories = {
      {.kind = trace::Kind::kKernel,
       .category = "Kernel",
       .events = 100,
       .tracks = 1,
       .covered_ns = 5'000},
      {.kind = trace::Kind::kMemcpy, .category = "gpu_memcpy", .events = 7, .tracks = 2}};
  info.links.device_work = 107;
  info.links.with_launch = 106;
  return info;
}

TEST(StepInfo, MeansAreRounded) {
  StepInfo steps{.count = 3, .total_ns = 1001};
  EXPECT_EQ(steps.mean_ns(), 334);
  steps.total_ns = 1000;
  EXPECT_EQ(steps.mean_ns(), 333);
}

TEST(StepInfo, StepsOfAWorseSourceAreCountedApart) {
  WindowInfo found = window(1, "runs/b.json.gz");
  found.steps.source = trace::StepSource::kRepetition;
  found.steps.count = 39;
  const std::vector<std::vector<WindowInfo>> orders = {{window(0, "runs/a.json.gz"), found},
                                                       {found, window(0, "runs/a.json.gz")}};
  for (const std::vector<WindowInfo>& windows : orders) {
    const RunInfo info = run_of(windows);
    EXPECT_EQ(info.steps.count, 2U);
    EXPECT_EQ(info.steps.others, 39U);
    EXPECT_EQ(step_count_text(info), "2 in all; 39 found otherwise are left out");
  }
}

TEST(InfoText, OneTraceFitsOnAScreen) {
  EXPECT_EQ(info_text(run_of({window(0, "runs/trace.json.gz")}), {}), R"(runs/trace.json.gz

  Run       1 rank
  Recorded  1.00 ms
  Steps     2 · ProfilerStep#3 to #4 · mean 400 µs on the host · 300 µs to 500 µs
  Size      2.00 KiB gzip · 40.0 KiB of JSON

Events        count   covers  on         kind
  Kernel        100  5.00 µs  1 stream
  gpu_memcpy      7           2 streams  memcpy
  all         1,234

Links                          found   of
  device work with its launch    106  107  99.1 %

Nothing odd was met.
)");
}

TEST(InfoText, SeveralRanksHaveATable) {
  const std::string text =
      info_text(run_of({window(0, "a/r0.json.gz"), window(1, "a/r1.json.gz")}), {});
  EXPECT_THAT(text, HasSubstr("a/ · 2 files\n"));
  EXPECT_THAT(text, HasSubstr("2 on each rank · ProfilerStep#3 to #4 · mean 400 µs on the host"));
  EXPECT_THAT(text,
              HasSubstr("Ranks  steps  mean step  starts    lasts  events  device work  file\n"
                        "  0        2     400 µs       –  1.00 ms   1,234          100  r0\n"
                        "  1        2     400 µs       –  1.00 ms   1,234          100  r1\n"));
}

TEST(InfoText, ManyRanksAreCutShortUnlessAllAreWanted) {
  std::vector<WindowInfo> windows;
  windows.reserve(20);
  for (std::int32_t rank = 0; rank < 20; ++rank) windows.push_back(window(rank, "r.json"));
  const RunInfo info = run_of(std::move(windows));
  EXPECT_THAT(info_text(info, {}), HasSubstr("… and 4 more ranks; --all shows every one"));
  InfoTextOptions all;
  all.all = true;
  EXPECT_THAT(info_text(info, all), Not(HasSubstr("--all")));
}

TEST(InfoText, RanksOfSeparateRunsAreTold) {
  RunInfo info = run_of({window(0, "a"), window(1, "b")});
  EXPECT_THAT(info_text(info, {}), testing::Not(HasSubstr("separate runs")));
  info.notes = {
      {base::Note::kRanksApart, 1, "", base::ImportLog::kNowhere, "a and b: 3 days apart"}};
  EXPECT_THAT(info_text(info, {}),
              HasSubstr("            separate runs, most likely: a and b: 3 days apart\n"));
}

TEST(InfoText, RanksOutOfMoreAreNamed) {
  RunInfo info = run_of({window(0, "a"), window(1, "b"), window(7, "c")});
  info.world_size = 128;
  EXPECT_EQ(run_facts(info, {}).front().text, "3 of 128 ranks (0–1, 7)");
  info.world_size = 3;
  EXPECT_EQ(run_facts(info, {}).front().text, "3 ranks");
}

TEST(InfoText, LossComesBeforeOddities) {
  RunInfo info = run_of({window(0, "runs/trace.json")});
  info.notes = {{base::Note::kTruncated, 1, "runs/trace.json", 81'920, "gemm"},
                {base::Note::kStrayComma, 12, "runs/trace.json", 7, ""},
                {base::Note::kSeveralWindows, 1, "", base::ImportLog::kNowhere, "rank 0: 2 files"}};
  EXPECT_THAT(info_text(info, {}), HasSubstr(R"(
Data was lost  count
  truncated        1  the file ends in the middle; everything complete before that was kept
                      first: trace.json:81920, gemm

Odd things met     count
  stray_comma         12  a comma before a closing bracket, or two in a row
                          first: trace.json:7
)"));
}

TEST(InfoText, SaysWhyThereMayBeNoDeviceWork) {
  RunInfo info = run_of({window(0, "a")});
  info.device_work = 0;
  info.categories = {{.kind = trace::Kind::kCpuOp, .category = "cpu_op", .events = 1, .tracks = 1}};
  EXPECT_EQ(cause_of_no_device_work(info), NoDeviceCause::kHostOnly);
  info.devices_listed = true;
  EXPECT_EQ(cause_of_no_device_work(info), NoDeviceCause::kNoDevice);
  info.categories.push_back(
      {.kind = trace::Kind::kRuntime, .category = "cuda_runtime", .events = 1});
  EXPECT_EQ(cause_of_no_device_work(info), NoDeviceCause::kCallsOnly);
  EXPECT_THAT(info_text(info, {}), HasSubstr("docs/start/no-gpu-events.md"));
  info.notes = {{base::Note::kTruncated, 1, "a", 7, ""}};
  EXPECT_EQ(cause_of_no_device_work(info), NoDeviceCause::kCut);
  EXPECT_THAT(info_text(info, {}), HasSubstr("the file is cut or damaged"));
  info.notes = {{base::Note::kEndlessEvent, 1, "a", 7, ""}};
  EXPECT_EQ(cause_of_no_device_work(info), NoDeviceCause::kEndless);
  EXPECT_THAT(info_text(info, {}), HasSubstr("an event of more than 64 MiB"));
  info.notes.clear();
  info.device_work = 1;
  EXPECT_EQ(cause_of_no_device_work(info), std::nullopt);
  info.device_work = 0;
  info.categories = {{.kind = trace::Kind::kOther, .category = "fee", .events = 1}};
  EXPECT_EQ(cause_of_no_device_work(info), std::nullopt) << "a trace of another tool";
}

TEST(InfoText, KeepsToTheWidthOfTheTerminal) {
  RunInfo info =
      run_of({window(0, "runs/" + std::string(200, 'x') + "0.json"), window(1, "runs/1.json")});
  info.devices = {
      {.name = "NVIDIA H200 of a very long name indeed", .memory_bytes = 1, .visible = 8}};
  info.notes = {{base::Note::kTruncated, 1, "runs/1.json", 81'920, std::string(300, 'y')}};
  InfoTextOptions options;
  options.look.width = 80;
  std::string text = info_text(info, options);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    EXPECT_LE(text_width(text.substr(at, end - at)), 80u) << text.substr(at, end - at);
    at = end + 1;
  }
}

TEST(InfoText, TimingsCanBeLeftOut) {
  const RunInfo info = run_of({window(0, "a.json")});
  EXPECT_THAT(info_text(info, {}), Not(HasSubstr("Loaded")));
  EXPECT_THAT(info_json(info, {}, {}), Not(HasSubstr("seconds")));
  InfoTextOptions timed;
  timed.load_seconds = 0.5;
  EXPECT_THAT(info_text(info, timed), HasSubstr("  Loaded    500 ms · 81.9 kB/s"));
  EXPECT_THAT(info_json(info, {}, 0.5), HasSubstr("\"seconds\": 0.5"));
}

TEST(InfoJson, LargeNumbersAreTextAndUnknownOnesNull) {
  RunInfo info = run_of({window(0, "a \"quoted\" name.json")});
  info.start_known = true;
  info.start_unix_ns = 1'790'857'026'123'456'789;
  info.end_unix_ns = info.start_unix_ns + 5;
  const std::string json = info_json(info, {}, {});
  EXPECT_THAT(json, HasSubstr("\"start_unix_ns\": \"1790857026123456789\""));
  EXPECT_THAT(json, HasSubstr("\"span_ns\": 5"));
  EXPECT_THAT(json, HasSubstr("\"world_size\": null"));
  EXPECT_THAT(json, HasSubstr("a \\\"quoted\\\" name.json"));
}

}  // namespace
}  // namespace stepscope::report
