// The examination as a whole: order, time limits and parts that hang or crash.
#include "doctor/doctor.h"

#include <unistd.h>

#include <chrono>
#include <csignal>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/temp_folder_for_tests.h"
#include "doctor/checks.h"
#include "doctor/subprocess.h"

namespace stepscope::doctor {
namespace {

using base::TempFolder;

using std::chrono::milliseconds;
using testing::HasSubstr;

TEST(Apart, GivesBackWhatWasSaid) {
  const std::vector<Subprocess> processes = {
      {.work = [] { return std::string(300'000, 'x'); }},
      {.program = {"sh", "-c", "echo out; echo err >&2; exit 3"}},
      {.program = {"no-such-program-here"}},
  };
  const std::vector<Returned> returned = run_subprocesses(processes);
  EXPECT_EQ(returned[0].text, std::string(300'000, 'x'));
  EXPECT_EQ(complaint(returned[0], processes[0]), "");
  EXPECT_EQ(returned[1].text, "out\n");
  EXPECT_EQ(complaint(returned[1], processes[1]), "ended with status 3");
  EXPECT_EQ(complaint(returned[2], processes[2]), "ended with status 127");
}

TEST(Apart, EndsWhatHangsAndOutlivesWhatCrashes) {
  const auto begin = std::chrono::steady_clock::now();
  const std::vector<Subprocess> processes = {
      {.work = []() -> std::string {
         std::this_thread::sleep_for(std::chrono::hours(1));
         return {};
       },
       .limit = milliseconds(200)},
      // Longer: on a busy machine a shell takes its time before it says anything.
      {.program = {"sh", "-c", "echo early; sleep 1000 & sleep 1000"}, .limit = milliseconds(3000)},
      {.work = []() -> std::string {
        (void)std::signal(SIGSEGV, SIG_DFL);
        (void)::raise(SIGSEGV);
        return {};
      }},
      {.program = {"sh", "-c", "exec 1>&-; sleep 1000"}, .limit = milliseconds(200)},
  };
  const std::vector<Returned> returned = run_subprocesses(processes);
  EXPECT_LT(seconds_since(begin), 20);
  EXPECT_EQ(complaint(returned[0], processes[0]), "did not answer within 0.2 s");
  EXPECT_EQ(complaint(returned[1], processes[1]), "did not answer within 3 s");
  EXPECT_EQ(returned[1].text, "early\n");
  EXPECT_EQ(complaint(returned[2], processes[2]), "was ended by signal 11");
  EXPECT_EQ(complaint(returned[3], processes[3]), "did not answer within 0.2 s");
}

TEST(Apart, StopsWhenAsked) {
  const std::atomic<bool> stop{true};
  const std::vector<Subprocess> processes = {{.program = {"sleep", "1000"}}};
  EXPECT_EQ(run_subprocesses(processes, &stop).front().ending, Ending::kStopped);
}

TEST(Check, TravelsAsText) {
  const std::vector<Check> checks = {{.name = "a",
                                      .state = State::kBad,
                                      .value = "one\x1ftwo",
                                      .means = "m",
                                      .todo = "t",
                                      .why = "w",
                                      .measured = 1.0 / 3,
                                      .expected = 2,
                                      .unit = "GB/s"},
                                     {.name = "b"}};
  const std::string text = encoded(checks);
  const std::vector<Check> back = decoded(text);
  ASSERT_EQ(back.size(), 2u);
  EXPECT_EQ(back[0].value, "one two");
  EXPECT_EQ(back[0].measured, 1.0 / 3);
  EXPECT_EQ(back[0].reference, std::nullopt);
  EXPECT_EQ(back[0].unit, "GB/s");
  EXPECT_EQ(back[1].state, State::kUnknown);
  EXPECT_EQ(decoded(text.substr(0, text.size() - 1)).size(), 1u);  // cut in the second
  EXPECT_TRUE(decoded("rubbish\x1e").empty());
}

TEST(Expectations, AreRead) {
  const auto good = parse_expectations("copy-pinned=20.5,gemm-bf16=70%");
  ASSERT_TRUE(good);
  EXPECT_EQ(good->at("copy-pinned").value, 20.5);
  EXPECT_TRUE(good->at("gemm-bf16").is_share);
  for (const std::string wrong : {"copy=1", "copy-pinned", "copy-pinned=", "copy-pinned=fast",
                                  "copy-pinned=-1", "copy-pinned=1%%", "copy-pinned=nan"}) {
    SCOPED_TRACE(wrong);
    EXPECT_FALSE(parse_expectations(wrong));
  }
  EXPECT_THAT(parse_expectations("copy=1").error().message, HasSubstr("there are copy-pinned,"));
}

struct JudgeCase {
  std::string title;
  std::optional<double> measured, reference, share;
  std::string asked;
  State state;
};

const JudgeCase kJudged[] = {
    {"nothing expected", 10, {}, {}, "", State::kMeasured},
    {"enough of what is possible", 10, 12, 0.75, "", State::kGood},
    {"too little of it", 8, 12, 0.75, "", State::kBad},
    {"the user asks for less", 8, 12, 0.75, "copy-pinned=5", State::kGood},
    {"the user asks for more", 10, 12, 0.75, "copy-pinned=90%", State::kBad},
    {"the user asks for a share of the unknown", 10, {}, {}, "copy-pinned=90%", State::kBad},
    {"asked for and not measured", {}, {}, {}, "copy-pinned=1", State::kBad},
    {"not asked for and not measured", {}, {}, {}, "file-read=1", State::kUnknown},
};

TEST(Expectations, AreJudged) {
  for (const JudgeCase& c : kJudged) {
    SCOPED_TRACE(c.title);
    Check check{.name = "copy-pinned",
                .measured = c.measured,
                .reference = c.reference,
                .expected_share = c.share};
    judge(check, *parse_expectations(c.asked));
    EXPECT_EQ(name_of(check.state), name_of(c.state));
  }
}

TEST(Measurements, TheHostCanBeMeasured) {
  const TempFolder folder;
  const Place place{
      .folder = folder.path(), .free_memory_bytes = std::uint64_t{512} << 20, .usable_cpus = 2};
  const std::vector<Check> files = file_rates(place);
  ASSERT_EQ(files.size(), 2u);
  EXPECT_GT(files[1].measured.value_or(0), 1);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  const std::vector<Check> memory = host_memory_rate(place);
  EXPECT_GT(memory.front().measured.value_or(0), 0.1);
  EXPECT_EQ(file_rates({.folder = folder.path() + "/none"}).front().value,
            "not measured: no such folder");
}

TEST(Measurements, WithoutADriverNothingIsMeasured) {
  const TempFolder folder;
  const Place place{.library_folder = folder.path()};
  EXPECT_EQ(copy_rates(place).front().state, State::kMissing);
  EXPECT_EQ(gemm_rate(place).front().value, "not measured: no CUDA driver");
}

TEST(Examination, EveryGroupSpeaks) {
  const TempFolder root;
  root.write("proc/self/limits", "Max open files  1024  1024 files\n");
  Examination examination;
  examination.place = {.root = root.path(),
                       .library_folder = root.path(),
                       .folder = root.path(),
                       .python = root.path() + "/no-python"};
  std::vector<std::string> names;
  for (const Check& check : examine(examination)) names.push_back(check.name);
  EXPECT_THAT(names,
              testing::ElementsAre("nvidia-driver", "nvml", "cuda-driver", "cupti", "perf-events",
                                   "amd-device", "cpus", "memory", "clock", "disk", "shared-memory",
                                   "open-files", "processes", "locked-memory", "python"));
}

}  // namespace
}  // namespace stepscope::doctor
