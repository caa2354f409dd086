// What keeps a GPU waiting, told apart: the same figures with other calls are another fault.
#include <gtest/gtest.h>

#include "advice/answers_for_tests.h"
#include "advice/rule.h"

namespace stepscope::advice {
namespace {

using Answers = AnswersForTests;

bool holds(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// Everything that a finding says, as one text.
std::string text_of_waiting(const Finding& finding) {
  std::string out = finding.title.form + finding.detail.form;
  for (const Change& change : finding.changes) out += change.why + change.code;
  for (const Sentence* sentence : {&finding.title, &finding.detail}) {
    for (const Figure& figure : sentence->figures) out += " " + figure.text;
  }
  return out;
}

// Every pair of braces has its figure.
void expect_figures(const Finding& finding) {
  for (const Sentence* sentence : {&finding.title, &finding.detail}) {
    EXPECT_EQ(static_cast<std::size_t>(std::ranges::count(sentence->form, '{')),
              sentence->figures.size())
        << sentence->form;
  }
}

struct CallForTest {
  std::string_view name;
  std::int64_t count = 0, runs = 0, idle_ns = 0;  // in four steps
};

Answers allocating_with(const std::vector<CallForTest>& calls, const Answers::Row& more = {}) {
  Answers answers;
  answers.steps().stall("allocator", 3'000'000, more);
  answers.add("launches", "ranks", {{"rank", 0}, {"work", 4 * 500}, {"short_kernels", 0}});
  for (int step = 0; step < 4; ++step) {
    answers.add("stalls", "steps",
                {{"rank", 0}, {"step", step}, {"stall", "allocator"}, {"count", 5}});
  }
  for (const CallForTest& call : calls) {
    answers.add("stalls", "calls",
                {{"rank", 0},
                 {"stall", "allocator"},
                 {"call", call.name},
                 {"count", call.count},
                 {"host_ns", 100'000 * call.count},
                 {"runs", call.runs},
                 {"idle_ns", call.idle_ns}});
  }
  return answers;
}

Finding churn(const std::vector<CallForTest>& calls, const Answers::Row& more = {}) {
  const Advice advice = allocating_with(calls, more).advise();
  const Finding* finding = finding_of(advice, "allocator-churn");
  EXPECT_NE(finding, nullptr);
  if (finding == nullptr) return {};
  expect_figures(*finding);
  return *finding;
}

TEST(AllocatorChurn, AnEmptiedCacheGivesBackInRows) {
  const Finding finding =
      churn({{"cudaMalloc", 200, 4, 6'000'000}, {"cudaFree", 200, 4, 6'000'000}});
  EXPECT_TRUE(holds(text_of_waiting(finding), "empty_cache()"));
  EXPECT_TRUE(holds(finding.detail.form, "cudaMalloc and cudaFree cost"));
}

TEST(AllocatorChurn, ACacheThatIsOffTakesAndGivesOneByOne) {
  const Finding finding =
      churn({{"hipMalloc", 1460, 500, 100'000}, {"hipFree", 1360, 527, 11'000'000}});
  EXPECT_TRUE(holds(finding.changes.front().code, "PYTORCH_NO_HIP_MEMORY_CACHING"));
  EXPECT_FALSE(holds(text_of_waiting(finding), "empty_cache"));
  EXPECT_FALSE(holds(text_of_waiting(finding), "cuda"));
  // A few are no sign of it.
  EXPECT_TRUE(holds(
      text_of_waiting(churn({{"cudaMalloc", 36, 20, 1'000'000}, {"cudaFree", 36, 20, 9'000'000}})),
      "empty_cache()"));
}

TEST(AllocatorChurn, APoolThatOnlyGrowsGivesNothingBack) {
  const Finding finding = churn({{"cudaMalloc", 40, 4, 12'000'000}});
  EXPECT_FALSE(holds(text_of_waiting(finding), "empty_cache"));
  EXPECT_FALSE(holds(text_of_waiting(finding), "cudaFree"));
  EXPECT_LE(finding.level, Level::kNotice);
  EXPECT_EQ(finding.gain->low, 0);
}

TEST(AllocatorChurn, PinnedMemoryIsNotTheGpus) {
  const Finding finding = churn({{"cudaHostAlloc", 4, 4, 12'000'000}, {"cudaMalloc", 40, 4, 0}},
                                {{"held_ns", 4 * 2'500'000}});
  EXPECT_TRUE(holds(text_of_waiting(finding), "cudaHostAlloc"));
  EXPECT_TRUE(holds(finding.detail.form, "a launch that did not return"));
  EXPECT_FALSE(holds(text_of_waiting(finding), "empty_cache()"));
  EXPECT_FALSE(holds(text_of_waiting(finding), "cudaMalloc"));
  // On the thread that launches, nothing is held.
  EXPECT_FALSE(holds(churn({{"cudaHostAlloc", 4, 4, 12'000'000}}).detail.form, "did not return"));
}

Answers queued(std::int64_t other_ns) {
  Answers answers;
  return answers.steps().add("idle-time", "devices", {{"rank", 0}, {"other_ns", 4 * other_ns}});
}

Answers::Row waits_before(std::string_view work, std::string_view launch, std::int64_t waits,
                          std::int64_t idle_ns) {
  Answers::Row row = {{"rank", 0},      {"work", work},       {"launch", launch},
                      {"waits", waits}, {"idle_ns", idle_ns}, {"median_ns", idle_ns / waits},
                      {"longest_ns", 1}};
  if (holds(launch, "Graph")) {
    row.emplace_back("node", 12);
    row.emplace_back("nodes", 700);
  }
  return row;
}

TEST(GpuIdle, SpeaksOfOtherProcessesOnlyWhereTheGpuStopsByTurns) {
  const auto stops = [](double alike, double steady, double same, std::int64_t count) {
    Answers answers = queued(3'000'000);
    answers.add("idle-time", "stops",
                {{"rank", 0},
                 {"between", count},
                 {"idle_ns", 12'000'000},
                 {"inside", 0},
                 {"longer_ns", 0},
                 {"usual_ns", 2'400'000},
                 {"alike_share", alike},
                 {"period_ns", 4'400'000},
                 {"steady_share", steady},
                 {"same_work_share", same}});
    const Advice advice = answers.advise();
    const Finding* finding = finding_of(advice, "gpu-idle");
    EXPECT_NE(finding, nullptr);
    expect_figures(*finding);
    return holds(text_of_waiting(*finding), "process");
  };
  EXPECT_TRUE(stops(0.9, 0.8, 0.3, 12));
  EXPECT_FALSE(stops(0.4, 0.8, 0.3, 12));  // of all lengths
  EXPECT_FALSE(stops(0.9, 0.3, 0.3, 12));  // now and then
  EXPECT_FALSE(stops(0.9, 0.8, 0.9, 12));  // always at the same work: that is why
  EXPECT_FALSE(stops(0.9, 0.8, 0.3, 5));   // too few to tell
}

TEST(GpuIdle, NamesTheNodeOfAGraphThatWaitsEachTime) {
  const auto said = [](std::string_view launch, std::int64_t waits) {
    Answers answers = queued(3'000'000);
    answers.add("idle-time", "queued", waits_before("Memset (Device)", launch, waits, 9'000'000));
    const Advice advice = answers.advise();
    expect_figures(*finding_of(advice, "gpu-idle"));
    return text_of_waiting(*finding_of(advice, "gpu-idle"));
  };
  EXPECT_TRUE(holds(said("cudaGraphLaunch", 4), "the same node of a graph"));
  EXPECT_TRUE(holds(said("cudaGraphLaunch", 4), "Memset (Device)"));
  EXPECT_FALSE(holds(said("cudaLaunchKernel", 4), "graph"));
  EXPECT_TRUE(holds(said("cudaLaunchKernel", 1), "one wait"));
  EXPECT_FALSE(holds(said("cudaGraphLaunch", 4), "cudaLaunchHostFunc"));
  for (const std::string_view launch : {"cudaGraphLaunch", "cudaLaunchKernel"}) {
    EXPECT_FALSE(holds(said(launch, 4), "process"));
  }
}

// The moment that a GPU takes to begin what was launched late is no pause between queued kernels.
TEST(GpuIdle, LeavesOutWhatFollowsALateLaunch) {
  const auto pauses = [](std::int64_t late_ns) {
    return Answers()
        .steps()
        .add("idle-time", "devices",
             {{"rank", 0}, {"kernel_ns", 4 * 2'000'000}, {"late_ns", 4 * late_ns}})
        .advise();
  };
  EXPECT_NE(finding_of(pauses(900'000), "gpu-idle"), nullptr);
  EXPECT_EQ(finding_of(pauses(1'900'000), "gpu-idle"), nullptr);
}

Answers held(std::string_view call, std::int64_t first_use_ns, int steps) {
  Answers answers;
  answers.steps().stall("driver", 3'000'000,
                        {{"held_ns", 4 * 3'000'000}, {"first_use_ns", 4 * first_use_ns}});
  answers.add("idle-time", "devices", {{"rank", 0}, {"host_ns", 4 * 3'000'000}});
  for (int step = 0; step < 4; ++step) {
    answers.add("stalls", "steps",
                {{"rank", 0},
                 {"step", step},
                 {"stall", "driver"},
                 {"idle_ns", step < steps ? 3'000'000 : 0}});
  }
  answers.add("stalls", "calls",
              {{"rank", 0},
               {"stall", "driver"},
               {"call", call},
               {"count", 4},
               {"host_ns", 12'000'000},
               {"idle_ns", 12'000'000}});
  return answers;
}

TEST(GpuIdle, SaysWhatHeldALaunch) {
  const auto said = [](std::string_view call, std::int64_t first_use_ns) {
    const Advice advice = held(call, first_use_ns, 4).advise();
    const Finding* finding = finding_of(advice, "gpu-idle");
    EXPECT_NE(finding, nullptr);
    expect_figures(*finding);
    return text_of_waiting(*finding);
  };
  EXPECT_TRUE(holds(said("cuModuleLoadData", 0), "cuModuleLoadData"));
  EXPECT_TRUE(holds(said("cudaLaunchKernel", 2'500'000), "CUDA_MODULE_LOADING"));
  EXPECT_FALSE(holds(said("hipLaunchKernel", 2'500'000), "CUDA_MODULE_LOADING"));
  EXPECT_FALSE(holds(said("cudaLaunchKernel", 0), "first time"));
}

TEST(GpuIdle, LeavesOutWhatComesOnceAtTheStart) {
  EXPECT_EQ(finding_of(held("cudaLaunchKernel", 3'000'000, 1).advise(), "gpu-idle"), nullptr);
}

Answers copying_only(std::string_view kind, std::int64_t copy_ns, std::string_view memory) {
  Answers answers;
  answers.steps().stall("upload", 0);
  answers.add("steps", "parts", {{"rank", 0}, {"part", "memcpy"}, {"mean_ns", 2'750'000.0}});
  answers.add("transfers", "classes",
              {{"rank", 0},
               {"kind", kind},
               {"host_memory", memory},
               {"count", 4},
               {"bytes", 4'000'000},
               {"copy_ns", copy_ns},
               {"hidden_share", 0.0}});
  return answers;
}

TEST(ExposedCopies, OnTheGpuThereIsNoNextBatch) {
  Answers answers = copying_only("HtoD", 0, "pinned");
  answers.add("transfers", "classes",
              {{"rank", 0}, {"kind", "HtoD"}, {"copy_ns", 1'000'000}, {"hidden_share", 0.0}});
  const Advice advice = answers.advise();
  const Finding* finding = finding_of(advice, "exposed-copies");
  ASSERT_NE(finding, nullptr);
  expect_figures(*finding);
  EXPECT_FALSE(holds(text_of_waiting(*finding), "next batch"));
  EXPECT_FALSE(holds(text_of_waiting(*finding), "pinned"));
  const Advice up = copying_only("HtoD", 10'000'000, "pinned").advise();
  EXPECT_TRUE(holds(text_of_waiting(*finding_of(up, "exposed-copies")), "next batch"));
}

TEST(SlowTransfers, OfAFewBytesNothingIsPinned) {
  const auto said = [](std::int64_t size) {
    Answers answers;
    answers.steps().stall("upload", 2'000'000);
    answers.add("transfers", "classes",
                {{"rank", 0},
                 {"kind", "HtoD"},
                 {"host_memory", "pageable"},
                 {"count", 8},
                 {"bytes", 8 * size},
                 {"median_bytes", size},
                 {"copy_ns", 10'000},
                 {"bytes_per_second", 1'000'000}});
    const Advice advice = answers.advise();
    expect_figures(*finding_of(advice, "slow-transfers"));
    return text_of_waiting(*finding_of(advice, "slow-transfers"));
  };
  EXPECT_FALSE(holds(said(15), "pin"));
  EXPECT_TRUE(holds(said(1 << 20), "pin_memory"));
}

TEST(LaunchBound, DoesNotAdviseWhatIsDone) {
  const auto said = [](std::int64_t graph_work, std::string_view kernel_name) {
    Answers answers;
    answers.steps().stall("launch", 6'000'000);
    answers.add("launches", "ranks",
                {{"rank", 0}, {"work", 400}, {"short_kernels", 300}, {"graph_work", graph_work}});
    answers.add("kernels", "kernels",
                {{"rank", 0}, {"name", kernel_name}, {"count", 4}, {"sum_ns", 1'000}});
    const Advice advice = answers.advise();
    return text_of_waiting(*finding_of(advice, "launch-bound"));
  };
  EXPECT_TRUE(holds(said(0, "gemm"), "Let the compiler fuse"));
  EXPECT_FALSE(holds(said(300, "gemm"), "torch.compile"));
  EXPECT_FALSE(holds(said(0, "triton_poi_fused_add_0"), "Let the compiler fuse"));
  EXPECT_TRUE(holds(said(0, "triton_poi_fused_add_0"), "compiled already"));
}

}  // namespace
}  // namespace stepscope::advice
