// The rules beyond waits and memory: each has a case that triggers it and one that comes close and
// must not.
#include <gtest/gtest.h>

#include "advice/answers_for_tests.h"
#include "advice/rule.h"

namespace stepscope::advice {
namespace {

using Answers = AnswersForTests;

// Steps of 10 ms, four of them; `ns` is per step.
Answers healthy_further_rules() { return Answers().steps().stall("launch", 1); }

TEST(ExposedCommunication, CountsWhatNothingHides) {
  const auto exposed = [](std::int64_t ns) {
    return healthy_further_rules()
        .add("overlap", "devices", {{"rank", 0}, {"device", 0}, {"exposed_ns", 4 * ns}})
        .add("overlap", "collectives",
             {{"rank", 0}, {"collective", "allreduce"}, {"exposed_ns", 4 * ns}})
        .advise();
  };
  EXPECT_EQ(finding_of(exposed(999'999), "exposed-communication"), nullptr);
  const Advice advice = exposed(2'500'000);
  const Finding* finding = finding_of(advice, "exposed-communication");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->level, Level::kWarning);
  EXPECT_EQ(finding->gain->low, 0);
  EXPECT_EQ(finding->evidence.size(), 1u);
}

// What is sent decides what to change: no gradients are sent where layers or experts are.
TEST(ExposedCommunication, AdvisesByWhatIsSent) {
  const auto advised = [](std::initializer_list<std::pair<const char*, std::int64_t>> uses,
                          bool has_backward = true, std::int64_t count = 40,
                          const char* known_by = "name") {
    Answers answers = healthy_further_rules();
    answers.add("overlap", "devices", {{"rank", 0}, {"device", 0}, {"exposed_ns", 10'000'000}});
    for (const auto& [use, exposed_ns] : uses) {
      answers.add("overlap", "uses",
                  {{"rank", 0},
                   {"use", use},
                   {"known_by", known_by},
                   {"count", count},
                   {"exposed_ns", exposed_ns},
                   {"has_backward", has_backward}});
    }
    const Advice advice = answers.advise();
    const Finding* const found = finding_of(advice, "exposed-communication");
    std::string out;
    for (const Change& change : found->changes) out += change.why + "\n" + change.code + "\n";
    return out + found->detail.form;
  };
  const auto holds = [](const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
  };
  const std::string gradients = advised({{"data-parallel", 9'000'000}, {"all-to-all", 1'000'000}});
  EXPECT_TRUE(holds(gradients, "bucket_cap_mb=100") && holds(gradients, "no_sync"));
  EXPECT_TRUE(holds(advised({{"data-parallel", 9'000'000}}, true, 4), "bucket_cap_mb=10)"));
  EXPECT_TRUE(holds(advised({{"sharded", 9'000'000}}), "SHARD_GRAD_OP"));
  EXPECT_FALSE(holds(advised({{"sharded", 9'000'000}}, false), "backward"));
  EXPECT_TRUE(holds(advised({{"embeddings", 9'000'000}}), "TrainPipelineSparseDist"));
  EXPECT_FALSE(holds(advised({{"embeddings", 9'000'000}}, true, 40, "## sparse_data_dist ##"),
                     "TrainPipelineSparseDist"));
  for (const char* use : {"sharded", "tensor-parallel", "expert-parallel", "embeddings", "pipeline",
                          "optimizer", "all-to-all", "unknown"}) {
    const std::string text = advised({{use, 9'000'000}});
    EXPECT_FALSE(holds(text, "bucket") || holds(text, "no_sync")) << use;
  }
  // None of several is the one to change.
  const std::string mixed =
      advised({{"data-parallel", 4'000'000}, {"all-to-all", 4'000'000}, {"embeddings", 4'000'000}});
  EXPECT_FALSE(holds(mixed, "bucket") || holds(mixed, "known by"));
}

TEST(GlooOnGpu, IsNotMpi) {
  const auto talking = [](const char* collective, std::int64_t ns) {
    return healthy_further_rules()
        .add("overlap", "host",
             {{"rank", 0}, {"collective", collective}, {"count", 4}, {"exposed_ns", 4 * ns}})
        .advise();
  };
  EXPECT_NE(finding_of(talking("gloo:all_reduce", 3'000'000), "gloo-on-gpu"), nullptr);
  EXPECT_EQ(finding_of(talking("mpi:all_reduce", 3'000'000), "gloo-on-gpu"), nullptr);
  EXPECT_EQ(finding_of(talking("gloo:all_reduce", 400'000), "gloo-on-gpu"), nullptr);
}

// What the CPU sends of its own is no tensor of a GPU.
TEST(GlooOnGpu, TellsTensorsFromMessages) {
  const auto talking = [](std::int64_t copied, bool has_backward) {
    const Advice advice =
        healthy_further_rules()
            .add("overlap", "host",
                 {{"rank", 0},
                  {"collective", "gloo:broadcast"},
                  {"count", 4},
                  {"exposed_ns", 12'000'000},
                  {"has_backward", has_backward}})
            .add("transfers", "classes", {{"rank", 0}, {"kind", "DtoH"}, {"bytes", 4 * copied}})
            .advise();
    const Finding* const found = finding_of(advice, "gloo-on-gpu");
    return found->title.form + found->detail.form + found->changes.front().code;
  };
  EXPECT_NE(talking(90 << 20, true).find("beside the backward pass"), std::string::npos);
  EXPECT_EQ(talking(90 << 20, false).find("backward"), std::string::npos);
  EXPECT_NE(talking(90 << 20, false).find("nccl"), std::string::npos);
  EXPECT_EQ(talking(4096, true).find("nccl"), std::string::npos);
  EXPECT_NE(talking(4096, true).find("messages between their CPUs"), std::string::npos);
}

TEST(DataParallel, NeedsBothHalvesAndTwoGpus) {
  const auto run = [](std::initializer_list<const char*> operators, int devices) {
    Answers answers = healthy_further_rules();
    for (const char* name : operators) {
      answers.add("operators", "operators", {{"rank", 0}, {"name", name}});
    }
    for (int device = 0; device < devices; ++device) {
      answers.add("overview", "devices", {{"rank", 0}, {"device", device}});
    }
    return answers.advise();
  };
  EXPECT_NE(finding_of(run({"Broadcast", "GatherBackward"}, 2), "data-parallel"), nullptr);
  EXPECT_EQ(finding_of(run({"Broadcast", "GatherBackward"}, 1), "data-parallel"), nullptr);
  EXPECT_EQ(finding_of(run({"Broadcast"}, 2), "data-parallel"), nullptr);
}

TEST(ExposedCopies, LeavesOutWhatOthersCount) {
  const auto copying = [](std::int64_t upload_ns) {
    return Answers()
        .steps()
        .stall("upload", 0, {{"copy_ns", 4 * upload_ns}})
        .add("steps", "parts", {{"rank", 0}, {"part", "memcpy"}, {"mean_ns", 1'200'000.0}})
        .add("transfers", "classes", {{"rank", 0}, {"kind", "DtoH"}})
        .advise();
  };
  const Advice alone = copying(0);
  ASSERT_NE(finding_of(alone, "exposed-copies"), nullptr);
  EXPECT_EQ(finding_of(alone, "exposed-copies")->level, Level::kWarning);
  EXPECT_EQ(finding_of(copying(1'000'000), "exposed-copies"), nullptr);
}

TEST(LowOccupancy, LooksAtKernelsThatMatter) {
  const auto with = [](double blocks, std::int64_t ns) {
    return healthy_further_rules()
        .add("kernels", "kernels",
             {{"rank", 0},
              {"name", "k"},
              {"class", "compute"},
              {"sum_ns", 4 * ns},
              {"blocks_per_sm", blocks}})
        .advise();
  };
  const Advice advice = with(0.25, 2'000'000);
  const Finding* finding = finding_of(advice, "low-occupancy");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->level, Level::kNotice);
  EXPECT_GE(finding->gain->high, 1'500'000);
  EXPECT_EQ(finding_of(with(0.97, 2'000'000), "low-occupancy"), nullptr);
  EXPECT_EQ(finding_of(with(0.25, 900'000), "low-occupancy"), nullptr);
}

// Which kernels are meant is for the user to say, and then the finding does.
TEST(LowOccupancy, SaysTheThresholdThatWasSet) {
  const auto with = [](double threshold) {
    Answers answers = healthy_further_rules();
    for (const double blocks : {0.1, 1.5}) {
      answers.add("kernels", "kernels",
                  {{"rank", 0},
                   {"name", "k"},
                   {"class", "compute"},
                   {"sum_ns", 8'000'000},
                   {"blocks_per_sm", blocks}});
    }
    return *finding_of(answers.advise({{"low-occupancy.blocks", threshold}}), "low-occupancy");
  };
  const Finding half = with(0.5);
  EXPECT_EQ(half.title.form, "Kernels that fill less than half of the GPU take {} of each step");
  const Finding quarter = with(0.25);
  EXPECT_EQ(quarter.title.form,
            "Kernels with fewer than 0.25 blocks for each multiprocessor take {} of each step");
  EXPECT_EQ(quarter.measured.name,
            "kernels with fewer than 0.25 blocks for each multiprocessor, of the step");
  const Finding two = with(2);
  EXPECT_EQ(two.title.form,
            "Kernels with fewer than 2 blocks for each multiprocessor take {} of each step");
  EXPECT_EQ(two.detail.form.find("most of the GPU's multiprocessors"), std::string::npos);
  // Nothing is empty where each has a block: that kernel takes nothing from the gain.
  EXPECT_EQ(two.gain->high, half.gain->high);
}

// A GPU that lags its host runs kernels of earlier steps, too.
// Twice the batch fills nothing where an eighth of the GPU is in use.
TEST(LowOccupancy, NamesTheBatchThatFillsTheGpu) {
  const auto code = [](double blocks) {
    Answers answers = healthy_further_rules();
    answers.add("kernels", "kernels",
                {{"rank", 0},
                 {"name", "softmax"},
                 {"class", "compute"},
                 {"blocks_per_sm", blocks},
                 {"sum_ns", 20'000'000}});
    return finding_of(answers.advise(), "low-occupancy")->changes.front().code;
  };
  EXPECT_NE(code(0.12).find("batch_size=8 *"), std::string::npos) << code(0.12);
  EXPECT_NE(code(0.45).find("batch_size=2 *"), std::string::npos) << code(0.45);
}

TEST(LowOccupancy, IsNeverMoreThanTheKernelsOfAStep) {
  const Advice advice =
      healthy_further_rules()
          .add("kernels", "kernels",
               {{"rank", 0},
                {"name", "k"},
                {"class", "compute"},
                {"sum_ns", 60'000'000},
                {"blocks_per_sm", 0.25}})
          .add("steps", "parts", {{"rank", 0}, {"part", "kernel"}, {"mean_ns", 9e6}})
          .advise();
  const Finding* finding = finding_of(advice, "low-occupancy");
  ASSERT_NE(finding, nullptr);
  EXPECT_DOUBLE_EQ(finding->measured.value, 0.9);
}

TEST(SmallBatch, NeedsFreeMemoryAndWaits) {
  const auto with = [](double used, std::int64_t waits_ns) {
    return Answers()
        .steps()
        .stall("launch", waits_ns)
        .add("overview", "devices", {{"rank", 0}, {"device", 0}, {"peak_reserved_share", used}})
        .advise();
  };
  EXPECT_NE(finding_of(with(0.1, 1'000'000), "small-batch"), nullptr);
  EXPECT_EQ(finding_of(with(0.6, 1'000'000), "small-batch"), nullptr);
  EXPECT_EQ(finding_of(with(0.1, 400'000), "small-batch"), nullptr);
}

TEST(SmallBatch, AGpuOfWhichNothingIsKnownMayBeFull) {
  const Advice advice =
      Answers()
          .steps()
          .stall("launch", 1'000'000)
          .add("overview", "devices", {{"rank", 0}, {"device", 0}, {"peak_reserved_share", 0.1}})
          .add("overview", "devices", {{"rank", 0}, {"device", 1}})
          .advise();
  EXPECT_EQ(finding_of(advice, "small-batch"), nullptr);
}

// 2 ms of 10 are turning round, 1 ms a norm.
TEST(ChannelsLast, WantsAModelThatTakesThatLayout) {
  const auto with = [](const char* operation, const char* norm) {
    return healthy_further_rules()
        .add("operators", "operators", {{"rank", 0}, {"name", operation}})
        .add("kernels", "kernels",
             {{"rank", 0}, {"name", "cudnn::nhwcToNchwKernel<float>"}, {"sum_ns", 8'000'000}})
        .add("kernels", "kernels", {{"rank", 0}, {"name", norm}, {"sum_ns", 4'000'000}})
        .advise();
  };
  const Advice planes = with("aten::cudnn_convolution", "batch_norm_backward_kernel<float>");
  const Finding* finding = finding_of(planes, "channels-last");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->level, Level::kWarning);
  EXPECT_EQ(finding->gain->low, 1'600'000);
  EXPECT_EQ(finding->gain->high, 2'550'000);  // and half a percent of the step
  EXPECT_NE(finding->detail.form.find("Batch norms"), std::string::npos);
  const Advice turned =
      with("aten::cudnn_convolution", "batch_norm_backward_reduce_channels_last_kernel<4>");
  EXPECT_EQ(finding_of(turned, "channels-last")->gain->high, 2'050'000);
  for (const char* only_planes : {"aten::native_group_norm", "aten::instance_norm"}) {
    const Advice worse = with(only_planes, "RowwiseMomentsCUDAKernel<float>");
    EXPECT_EQ(finding_of(worse, "channels-last"), nullptr) << only_planes;
  }
}

// What a search for the fastest algorithm tries out, the search does.
TEST(ChannelsLast, IsNotWhatASearchTriesOut) {
  const auto with = [](std::int64_t tried_ns) {
    return healthy_further_rules()
        .add("operators", "operators", {{"rank", 0}, {"name", "aten::cudnn_convolution"}})
        .add("kernels", "kernels",
             {{"rank", 0}, {"name", "cudnn::nhwcToNchwKernel<float>"}, {"sum_ns", 8'000'000}})
        .add("autotuning", "ranks", {{"rank", 0}, {"device_ns", tried_ns}, {"once_ns", 0}})
        .advise();
  };
  EXPECT_NE(finding_of(with(4'000'000), "channels-last"), nullptr);
  EXPECT_EQ(finding_of(with(7'000'000), "channels-last"), nullptr);
}

TEST(OddShapes, LooksAtMatricesIn16Bits) {
  const auto with = [](const char* inputs, const char* arithmetic, std::int64_t ns = 2'000'000) {
    return healthy_further_rules()
        .add("roofline", "operators",
             {{"rank", 0},
              {"operator", "aten::mm"},
              {"inputs", inputs},
              {"family", "matrix product"},
              {"arithmetic", arithmetic},
              {"tflop_per_second", 100.0},
              {"roof_ns", 9 * ns / 5},  // at nine tenths of the peak half of its time
              {"device_ns", 4 * ns}})
        .advise();
  };
  const Advice advice = with("4096×768, 768×50257", "bf16");
  const Finding* finding = finding_of(advice, "odd-shapes");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->level, Level::kNotice);  // nothing shows that even sizes are faster
  EXPECT_EQ(finding->gain->low, 0);
  EXPECT_EQ(finding->gain->high, 1'050'000);
  EXPECT_EQ(finding_of(with("4096×768, 768×50304", "bf16"), "odd-shapes"), nullptr);
  EXPECT_EQ(finding_of(with("4096×768, 768×50257", "fp32"), "odd-shapes"), nullptr);
  EXPECT_EQ(finding_of(with("4096×768, 768×50257", "fp16", 900'000), "odd-shapes"), nullptr);
  EXPECT_EQ(finding_of(with("50257, 4096×768, 768×1024", "bf16"), "odd-shapes"), nullptr);
}

Answers convolution(const char* inputs, const char* arithmetic = "bf16") {
  return healthy_further_rules().add("roofline", "operators",
                                     {{"rank", 0},
                                      {"operator", "aten::cudnn_convolution"},
                                      {"inputs", inputs},
                                      {"family", "convolution"},
                                      {"arithmetic", arithmetic},
                                      {"tflop_per_second", 100.0},
                                      {"roof_ns", 7'200'000},
                                      {"device_ns", 16'000'000}});
}

// Of convolutions only the channels count, and few of them are given by the data.
TEST(OddShapes, ChannelsOfConvolutions) {
  const auto with = [](const char* inputs, const char* arithmetic = "bf16") {
    return convolution(inputs, arithmetic)
        .add("roofline", "operators",  // a product is no measure of convolutions
             {{"rank", 0},
              {"inputs", "4096×1024, 1024×1024"},
              {"family", "matrix product"},
              {"arithmetic", "bf16"},
              {"tflop_per_second", 500.0},
              {"device_ns", 1'000'000}})
        .advise();
  };
  const Advice advice = with("56×378×31×31, 189×378×3×3");
  const Finding* finding = finding_of(advice, "odd-shapes");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->level, Level::kNotice);
  EXPECT_EQ(finding->measured.threshold, 0.1);
  EXPECT_TRUE(finding->title.form.starts_with("Convolutions")) << finding->title.form;
  EXPECT_EQ(finding->gain->low, 0);
  EXPECT_EQ(finding->gain->high, 2'050'000);
  EXPECT_EQ(finding_of(with("56×384×31×31, 192×384×3×3"), "odd-shapes"), nullptr);
  EXPECT_EQ(finding_of(with("50×3×31×31, 64×3×7×7"), "odd-shapes"), nullptr);
  EXPECT_EQ(finding_of(with("56×378×31×31, 189×378×3×3", "fp32"), "odd-shapes"), nullptr);
}

// What only fills channels up is gained for sure, and what turns tensors round stays.
TEST(OddShapes, FillingUpChannelsIsGained) {
  const auto with = [](const char* inputs, const char* kernel) {
    return convolution(inputs)
        .add("kernels", "kernels", {{"rank", 0}, {"name", kernel}, {"sum_ns", 6'000'000}})
        .advise();
  };
  constexpr const char* kOdd = "56×378×31×31, 189×378×3×3";
  constexpr const char* kFilling = "void nhwcAddPaddingKernel<__nv_bfloat16>(int)";
  const Advice filled = with(kOdd, kFilling);
  const Finding* finding = finding_of(filled, "odd-shapes");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->level, Level::kWarning);
  EXPECT_EQ(finding->gain->low, 1'500'000);
  EXPECT_EQ(finding->gain->high, 2'050'000);
  EXPECT_NE(finding->about_gain.form.find("AddPadding"), std::string::npos);
  const Advice turned = with(kOdd, "cudnn::nchwToNhwcKernel<__nv_bfloat16>");
  finding = finding_of(turned, "odd-shapes");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->level, Level::kNotice);
  EXPECT_EQ(finding->gain->low, 0);
  EXPECT_EQ(finding->gain->high, 1'300'000);  // half of the turning stays
  EXPECT_EQ(finding->detail.form.find("AddPadding"), std::string::npos);
  EXPECT_EQ(finding_of(with("56×384×31×31, 192×384×3×3", kFilling), "odd-shapes"), nullptr);
}

TEST(OddShapes, EvenSizesOfTheSameRunShowWhatIsLost) {
  const auto with = [](double odd_rate) {
    Answers answers = healthy_further_rules();
    const auto product = [&](const char* inputs, double rate, std::int64_t ns) {
      answers.add("roofline", "operators",
                  {{"rank", 0},
                   {"operator", "aten::mm"},
                   {"inputs", inputs},
                   {"family", "matrix product"},
                   {"arithmetic", "bf16"},
                   {"tflop_per_second", rate},
                   {"roof_ns", ns * 9 / 100},
                   {"device_ns", ns}});
    };
    product("2 of 4096×1023", odd_rate, 20'000'000);
    product("4096×1024, 1024×1024", 500.0, 1'000'000);
    return answers.advise();
  };
  const Advice slow = with(60.0);
  const Finding* finding = finding_of(slow, "odd-shapes");
  ASSERT_NE(finding, nullptr);
  // 5 ms of each step of 10 ms at 60 of the 300 that even sizes reach at least.
  EXPECT_EQ(finding->level, Level::kCritical);
  EXPECT_EQ(finding->gain->low, 4'000'000);
  EXPECT_EQ(finding->gain->high, 4'550'000);
  const Advice fast = with(450.0);
  EXPECT_EQ(finding_of(fast, "odd-shapes")->level, Level::kNotice);
}

TEST(OutlierSteps, AreNotPauses) {
  const auto with = [](std::int64_t steps, std::int64_t pause_ns) {
    Answers answers;
    answers.add("steps", "times",
                {{"rank", 0}, {"steps", steps}, {"mean_ns", 10e6}, {"median_ns", 9'000'000}});
    answers.stall("pause", 0, {{"idle_ns", steps * pause_ns}});
    answers.add("steps", "steps", {{"rank", 0}, {"step", 1}, {"step_ns", 9'000'000}});
    answers.add("steps", "outliers",
                {{"rank", 0},
                 {"step", 3},
                 {"step_ns", 20'000'000},
                 {"excess_ns", 10'000'000},
                 {"grown_part", "kernel"},
                 {"grown_ns", 9'000'000},
                 {"window", 0}});
    return answers.advise();
  };
  const Advice advice = with(10, 0);
  ASSERT_NE(finding_of(advice, "outlier-steps"), nullptr);
  EXPECT_EQ(finding_of(advice, "outlier-steps")->level, Level::kNotice);
  EXPECT_EQ(finding_of(with(10, 1'000'000), "outlier-steps"), nullptr);
  EXPECT_EQ(finding_of(with(4, 0), "outlier-steps"), nullptr);
}

TEST(OutlierSteps, AreNotTheCopiesOfACheckpoint) {
  const auto with = [](std::int64_t copy_ns) {
    Answers answers;
    answers.add("steps", "times",
                {{"rank", 0}, {"steps", 10}, {"mean_ns", 10e6}, {"median_ns", 9'000'000}});
    answers.stall("save", 0, {{"idle_ns", 1}, {"copy_ns", copy_ns}});
    answers.add("steps", "outliers", {{"rank", 0}, {"step", 3}, {"excess_ns", 10'000'000}});
    return finding_of(answers.advise(), "outlier-steps") != nullptr;
  };
  EXPECT_TRUE(with(0));
  EXPECT_FALSE(with(9'000'000));
}

TEST(FewSteps, SaysHowWellTheStepIsKnown) {
  const auto with = [](std::initializer_list<std::int64_t> lengths) {
    Answers answers = healthy_further_rules();
    for (const std::int64_t length : lengths) {
      answers.add("steps", "steps", {{"rank", 0}, {"step_ns", length}});
    }
    return answers.advise();
  };
  const Advice advice = with({6'000'000, 14'000'000, 10'000'000});
  ASSERT_NE(finding_of(advice, "few-steps"), nullptr);
  EXPECT_EQ(finding_of(advice, "few-steps")->level, Level::kInfo);
  EXPECT_EQ(finding_of(with({10'000'000, 10'010'000, 9'990'000, 10'000'000}), "few-steps"),
            nullptr);
}

// It stands above the figures that it is about, and not only at the end.
TEST(FewSteps, IsSaidBeforeTheFindings) {
  const auto first_words = [](std::int64_t apart, std::int64_t sync_ns) {
    Answers answers = healthy_further_rules().stall("sync", sync_ns);
    for (const std::int64_t other : {-apart, apart, std::int64_t{0}}) {
      answers.add("steps", "steps", {{"rank", 0}, {"step_ns", 10'000'000 + other}});
    }
    return answers.advise().verdict;
  };
  constexpr std::string_view kTooFew = "Too few steps were recorded";
  EXPECT_TRUE(first_words(4'000'000, 5'000'000).front().form.starts_with(kTooFew));
  EXPECT_FALSE(first_words(10'000, 5'000'000).front().form.starts_with(kTooFew));
  // Where it is the only finding, that says it.
  for (const Sentence& one : first_words(4'000'000, 0)) {
    EXPECT_FALSE(one.form.starts_with(kTooFew)) << one.form;
  }
}

// A step that is long because of a save says nothing about the others, and has its own finding.
TEST(FewSteps, LeavesOutWhatHasAFindingOfItsOwn) {
  const auto with = [](std::string_view sort) {
    Answers answers = healthy_further_rules();
    for (int step = 0; step < 4; ++step) {
      const std::int64_t length = step == 2 ? 30'000'000 : 10'000'000 + step;
      answers.add("steps", "steps", {{"rank", 0}, {"step", step}, {"step_ns", length}});
    }
    answers.add("stalls", "steps",
                {{"rank", 0},
                 {"step", 2},
                 {"stall", sort},
                 {"idle_ns", 15'000'000},
                 {"copy_ns", 5'000'000}});
    return finding_of(answers.advise(), "few-steps") != nullptr;
  };
  EXPECT_TRUE(with("sync"));
  EXPECT_FALSE(with("save"));
}

TEST(ProfilerOverhead, NeedsStacksAndWaits) {
  const auto with = [](bool stacks, std::int64_t waits_ns) {
    Answers answers = Answers().steps().stall("launch", waits_ns);
    if (stacks) answers.add("operators", "stacks", {{"rank", 0}, {"stack", "train.py(3): f"}});
    return answers.advise();
  };
  EXPECT_NE(finding_of(with(true, 1'500'000), "profiler-overhead"), nullptr);
  EXPECT_EQ(finding_of(with(false, 1'500'000), "profiler-overhead"), nullptr);
  EXPECT_EQ(finding_of(with(true, 900'000), "profiler-overhead"), nullptr);
}

}  // namespace
}  // namespace stepscope::advice
