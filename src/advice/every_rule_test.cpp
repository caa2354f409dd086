// Every rule has a pair here: tables that trigger it, and tables that differ from them in one
// number by at most a tenth and must not. A rule without a pair fails.
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include <gtest/gtest.h>

#include "advice/answers_for_tests.h"
#include "advice/rule.h"

namespace stepscope::advice {
namespace {

using Answers = AnswersForTests;
constexpr double kEveryRuleMiB = 1 << 20;

std::int64_t whole(double value) { return std::llround(value); }

// Steps of 10 ms, four of them; what a case is given is ns per step, unless it says otherwise.
Answers healthy_every_rule() { return Answers().steps().stall("launch", 1); }
Answers waiting_every_rule(std::string_view sort, double ns, const Answers::Row& more = {}) {
  return Answers().steps().stall(sort, whole(ns), more);
}

Answers input(double ns) {
  return waiting_every_rule("input", ns)
      .add("dataloader", "loaders", {{"rank", 0}, {"loader", "x"}, {"sum_ns", 1}});
}

Answers transfers(double ns) {
  return waiting_every_rule("upload", 0, {{"copy_ns", whole(4 * ns)}})
      .add("transfers", "classes",
           {{"rank", 0},
            {"kind", "HtoD"},
            {"host_memory", "pageable"},
            {"count", 4},
            {"bytes", 4 << 30},
            {"median_bytes", 1 << 30},
            {"copy_ns", whole(4 * ns)},
            {"bytes_per_second", 16'000'000'000}});
}

Answers launch(double ns) {
  return waiting_every_rule("launch", ns)
      .add("launches", "ranks", {{"rank", 0}, {"work", 400}, {"short_kernels", 300}});
}

Answers precision(double ns) {
  return Answers().steps().add("operators", "tensor_cores",
                               {{"rank", 0},
                                {"operators", "matrix products"},
                                {"device_ns", whole(4 * ns)},
                                {"used_ns", 0},
                                {"not_used_ns", whole(4 * ns)},
                                {"plain_ns", whole(4 * ns)},
                                {"unknown_ns", 0}});
}

Answers allocator(double ns) {
  Answers answers = waiting_every_rule("allocator", ns);
  for (int step = 0; step < 4; ++step) {
    answers.add("stalls", "steps",
                {{"rank", 0}, {"step", step}, {"stall", "allocator"}, {"count", 5}});
  }
  return answers;
}

Answers unnamed_every_rule(double ns) {
  return Answers()
      .steps()
      .add("steps", "parts", {{"rank", 0}, {"part", "other"}, {"mean_ns", ns}})
      .add("steps", "steps",
           {{"rank", 0}, {"step", 7}, {"step_ns", 10'000'000}, {"other_ns", whole(ns)}})
      .add("stalls", "kinds", {})
      .no_device_work();
}

// A part of a training on the CPU, as `loop` has it.
Answers part_of_loop(std::string_view part, double ns) {
  return Answers()
      .steps()
      .add("steps", "steps", {{"rank", 0}, {"step", 7}, {"step_ns", 10'000'000}})
      .add("loop", "steps",
           {{"rank", 0}, {"steps", 4}, {"mean_ns", 10e6}, {"learning", 8}, {"evaluating", 8}})
      .add("loop", "parts",
           {{"rank", 0},
            {"part", part},
            {"mean_ns", ns},
            {"sum_ns", whole(4 * ns)},
            {"short_ns", part == "forward" ? whole(4 * ns) : 0},
            {"longest_ns", whole(ns)},
            {"calls", 4000}})
      .add("stalls", "kinds", {})
      .no_device_work();
}

Answers called_back(double ns) {
  return part_of_loop("forward", 1)
      .add("time", "times", {{"rank", 0}, {"steps", 4}})
      .add("time", "ranges",
           {{"rank", 0},
            {"where", "main thread"},
            {"range", "[Callback]Watch{'every': 1}.on_train_batch_end"},
            {"calls", 4},
            {"total_ns", whole(4 * ns)}});
}

Answers optimizer_every_rule(double ns) {
  return waiting_every_rule("optimizer", ns,
                            {{"work", 2400}, {"work_ns", 4'800'000}, {"host_ns", 9'000'000}});
}

Answers data_parallel(double gpus) {
  Answers answers = healthy_every_rule();
  for (const char* name : {"Broadcast", "GatherBackward"}) {
    answers.add("operators", "operators", {{"rank", 0}, {"name", name}});
  }
  for (int device = 0; device < whole(gpus); ++device) {
    answers.add("overview", "devices", {{"rank", 0}, {"device", device}});
  }
  return answers;
}

Answers exposed_copies(double ns) {
  return healthy_every_rule()
      .add("steps", "parts", {{"rank", 0}, {"part", "memcpy"}, {"mean_ns", ns}})
      .add("transfers", "classes", {{"rank", 0}, {"kind", "DtoH"}});
}

Answers low_occupancy(double ns) {
  return healthy_every_rule().add("kernels", "kernels",
                                  {{"rank", 0},
                                   {"name", "k"},
                                   {"class", "compute"},
                                   {"sum_ns", whole(4 * ns)},
                                   {"blocks_per_sm", 0.25}});
}

Answers chains(double ns) {
  return healthy_every_rule().add("patterns", "chains",
                                  {{"rank", 0},
                                   {"within", "forward"},
                                   {"kernels", 3},
                                   {"count", 40},
                                   {"device_ns", whole(6 * ns)},
                                   {"saves_least_ns", whole(4 * ns / 3)},
                                   {"saves_ns", whole(4 * ns)},
                                   {"saves_most_ns", whole(4 * ns)}});
}

// Softmax and the like, between products that take as long.
Answers attention(double ns) {
  return healthy_every_rule().add("attention", "pieces",
                                  {{"rank", 0},
                                   {"scores", "16×12×197×197"},
                                   {"calls", 48},
                                   {"device_ns", whole(8 * ns)},
                                   {"products_ns", whole(4 * ns)},
                                   {"softmax_ns", whole(3 * ns)},
                                   {"between_ns", whole(ns)}});
}

Answers recompute(double ns) {
  return healthy_every_rule()
      .add("mfu", "steps",
           {{"rank", 0}, {"step", 1}, {"compute_ns", 9'000'000}, {"recomputed_ns", whole(4 * ns)}})
      .add("operators", "operators", {{"rank", 0}, {"name", "aten::mm"}})
      .add("overview", "devices", {{"rank", 0}, {"device", 0}, {"peak_reserved_share", 0.4}});
}

Answers odd_shapes(double ns) {
  return healthy_every_rule().add("roofline", "operators",
                                  {{"rank", 0},
                                   {"operator", "aten::mm"},
                                   {"inputs", "4096×768, 768×50257"},
                                   {"family", "matrix product"},
                                   {"arithmetic", "bf16"},
                                   {"tflop_per_second", 100.0},
                                   {"roof_ns", whole(1.8 * ns)},
                                   {"device_ns", whole(4 * ns)}});
}

Answers turned_round(double ns) {
  return healthy_every_rule()
      .add("operators", "operators", {{"rank", 0}, {"name", "aten::cudnn_convolution"}})
      .add("kernels", "kernels",
           {{"rank", 0},
            {"name", "cudnn::engines_precompiled::nchwToNhwcKernel<__half>"},
            {"class", "compute"},
            {"count", 400},
            {"sum_ns", whole(4 * ns)}});
}

Answers searches(double ns) {
  Answers answers = waiting_every_rule("search", ns / 2);
  for (int step = 5; step < 9; ++step) answers.add("steps", "steps", {{"rank", 0}, {"step", step}});
  return answers
      .add("autotuning", "ranks",
           {{"rank", 0},
            {"calls", 40},
            {"searches", 12},
            {"device_ns", whole(2 * ns)},
            {"once_ns", whole(ns)},
            {"steps", 4}})
      .add("autotuning", "searches",
           {{"rank", 0}, {"step", 5}, {"operator", "aten::conv2d"}, {"kernels", 60}});
}

// What one of ten steps is longer than the others.
Answers outliers(double excess_ns) {
  return Answers()
      .add("steps", "times",
           {{"rank", 0}, {"steps", 10}, {"mean_ns", 10e6}, {"median_ns", 9'000'000}})
      .add("steps", "steps", {{"rank", 0}, {"step", 1}, {"step_ns", 9'000'000}})
      .add("steps", "outliers",
           {{"rank", 0},
            {"step", 3},
            {"step_ns", 20'000'000},
            {"excess_ns", whole(excess_ns)},
            {"grown_part", "kernel"},
            {"grown_ns", 1},
            {"window", 0}});
}

Answers overhead(double ns) {
  return waiting_every_rule("launch", ns)
      .add("operators", "stacks", {{"rank", 0}, {"stack", "a.py(3): f"}});
}

// Three steps: one as long as usual, one shorter and one longer by so much.
Answers different_steps(double ns) {
  Answers answers = healthy_every_rule();
  for (const double length : {10e6 - ns, 10e6, 10e6 + ns}) {
    answers.add("steps", "steps", {{"rank", 0}, {"step_ns", whole(length)}});
  }
  return answers;
}

// The share of the time that the training thread waited for a processor.
Answers contention(double waited) {
  return healthy_every_rule()
      .add("system", "machines", {{"node", "a"}, {"processors", 64}, {"cpu_limit_cores", 8.0}})
      .add("system", "processes",
           {{"rank", 0},
            {"node", "a"},
            {"processes", "training"},
            {"mean_cores", 7.5},
            {"waited_share", waited}})
      .add("overview", "devices", {{"rank", 0}, {"device", 0}, {"busy_share", 0.5}});
}

// Per cent of the device's memory.
Answers pressure(double percent) {
  return Answers().add("overview", "devices",
                       {{"rank", 0},
                        {"device", 0},
                        {"peak_reserved_bytes", whole(percent * kEveryRuleMiB)},
                        {"memory_bytes", whole(100 * kEveryRuleMiB)}});
}

// Of six steps, those that leaked memory; where none did, the analysis lists no leak.
Answers leak(double steps) {
  Answers answers;
  answers.add("memory-leaks", "outlook",
              {{"rank", 0}, {"bytes_per_step", whole(steps * kEveryRuleMiB)}});
  if (steps < 1) return answers;
  return answers.add("memory-leaks", "leaks",
                     {{"rank", 0},
                      {"where", "train.py:7 step"},
                      {"bytes_per_step", whole(kEveryRuleMiB)},
                      {"confidence", "high"},
                      {"category", "activations"},
                      {"in_steps", whole(steps)},
                      {"of_steps", 6}});
}

// A setting that makes launches wait: of 1000 nodes, or of 1000 launches, so many show it.
Answers signs_every_rule(std::string_view all, std::string_view some, double count) {
  return waiting_every_rule("launch", 5'000'000)
      .stall("debug", 1'000'000)
      .add("host-work", "signs",
           {{"rank", 0}, {all, 1000}, {some, whole(count)}, {"check_work_ns", 0}});
}

// What another setting would save, in MiB of 1000.
Answers fragmentation(double saved) {
  return Answers()
      .add("memory-fragmentation", "moments",
           {{"rank", 0},
            {"snapshot", "a"},
            {"device", 0},
            {"moment", "most reserved"},
            {"reserved_bytes", whole(2000 * kEveryRuleMiB)}})
      .add("memory-fragmentation", "settings",
           {{"rank", 0},
            {"snapshot", "a"},
            {"device", 0},
            {"setting", "expandable_segments:True"},
            {"peak_reserved_bytes", whole((2000 - saved) * kEveryRuleMiB)},
            {"saved_bytes", whole(saved * kEveryRuleMiB)},
            {"failures", 0}});
}

// How many requests failed.
Answers failures(double count) {
  Answers answers;
  answers.add("memory-oom", "headroom", {{"rank", 0}, {"snapshot", "a"}, {"device", 0}});
  for (int failure = 1; failure <= whole(count); ++failure) {
    answers.add("memory-oom", "failures",
                {{"rank", 0},
                 {"snapshot", "a"},
                 {"device", 0},
                 {"failure", failure},
                 {"asked_bytes", whole(16 * kEveryRuleMiB)},
                 {"why", "device full"}});
  }
  return answers;
}

struct Pair {
  std::string_view rule;
  std::function<Answers(double)> tables;
  double close, triggers;
  bool is_counted = false;  // close is one less: of GPUs, of failures
};

const std::vector<Pair>& pairs() {
  static const std::vector<Pair> kPairs = {
      {"input-bound", input, 499'000, 500'000},
      {"slow-transfers", transfers, 499'000, 500'000},
      {"host-sync", [](double ns) { return waiting_every_rule("sync", ns); }, 299'000, 300'000},
      {"launch-bound", launch, 499'000, 500'000},
      {"precision", precision, 999'000, 1'000'000},
      {"allocator-churn", allocator, 299'000, 300'000},
      {"checkpoint-stall", [](double ns) { return waiting_every_rule("save", ns); }, 499'000,
       500'000},
      {"host-data", [](double ns) { return waiting_every_rule("data", ns); }, 499'000, 500'000},
      {"cpu-optimizer", [](double ns) { return waiting_every_rule("update", ns); }, 499'000,
       500'000},
      {"logged-tensors", [](double ns) { return waiting_every_rule("inspect", ns); }, 499'000,
       500'000},
      {"compiling", [](double ns) { return waiting_every_rule("compile", ns); }, 499'000, 500'000},
      {"anomaly-mode",
       [](double nodes) { return signs_every_rule("backward_nodes", "checked_nodes", nodes); }, 499,
       500},
      {"blocking-launches",
       [](double calls) { return signs_every_rule("long_launches", "held_launches", calls); }, 949,
       950},
      {"host-pause", [](double ns) { return waiting_every_rule("pause", ns); }, 499'000, 500'000},
      {"unnamed-time", unnamed_every_rule, 1'990'000, 2'000'000},
      {"loop-work", called_back, 499'000, 500'000},
      {"operator-overhead", [](double ns) { return part_of_loop("forward", ns); }, 2'990'000,
       3'000'000},
      {"evaluation", [](double ns) { return part_of_loop("no gradients", ns); }, 990'000,
       1'000'000},
      {"unfused-optimizer", optimizer_every_rule, 499'000, 500'000},
      {"gpu-idle",
       [](double ns) {
         return healthy_every_rule().add("idle-time", "devices",
                                         {{"rank", 0}, {"communication_ns", whole(4 * ns)}});
       },
       990'000, 1'000'000},
      {"exposed-communication",
       [](double ns) {
         return healthy_every_rule().add(
             "overlap", "devices", {{"rank", 0}, {"device", 0}, {"exposed_ns", whole(4 * ns)}});
       },
       999'000, 1'000'000},
      {"gloo-on-gpu",
       [](double ns) {
         return healthy_every_rule().add("overlap", "host",
                                         {{"rank", 0},
                                          {"collective", "gloo:all_reduce"},
                                          {"count", 4},
                                          {"exposed_ns", whole(4 * ns)}});
       },
       499'000, 500'000},
      {"data-parallel", data_parallel, 1, 2, true},
      {"exposed-copies", exposed_copies, 499'000, 500'000},
      {"low-occupancy", low_occupancy, 999'000, 1'000'000},
      {"small-batch",
       [](double ns) {
         return waiting_every_rule("launch", ns)
             .add("overview", "devices",
                  {{"rank", 0}, {"device", 0}, {"peak_reserved_share", 0.1}});
       },
       499'000, 500'000},
      {"unfused-attention", attention, 499'000, 500'000},
      {"unfused-chains", chains, 790'000, 800'000},
      {"recompute", recompute, 499'000, 500'000},
      {"odd-shapes", odd_shapes, 999'000, 1'000'000},
      {"channels-last", turned_round, 499'000, 500'000},
      {"cudnn-autotuning", searches, 620'000, 680'000},
      {"outlier-steps", outliers, 4'990'000, 5'000'000},
      {"profiler-overhead", overhead, 999'000, 1'000'000},
      {"few-steps", different_steps, 1'600'000, 1'620'000},
      {"garbage-collector", [](double ns) { return waiting_every_rule("collector", ns); }, 299'000,
       300'000},
      {"cpu-contention", contention, 0.0499, 0.05},
      {"memory-pressure", pressure, 84.9, 85},
      {"memory-oom", failures, 0, 1, true},
      {"memory-leak", leak, 0, 5, true},
      {"memory-fragmentation", fragmentation, 99, 100},
  };
  return kPairs;
}

TEST(EveryRule, HasAPairHere) {
  for (const Rule* rule : rules()) {
    EXPECT_EQ(std::ranges::count(pairs(), rule->id, &Pair::rule), 1) << rule->id;
  }
  EXPECT_EQ(pairs().size(), rules().size());
}

TEST(EveryRule, IsTriggeredByItsTables) {
  for (const Pair& pair : pairs()) {
    const Advice advice = pair.tables(pair.triggers).advise();
    const Finding* finding = finding_of(advice, pair.rule);
    ASSERT_NE(finding, nullptr) << pair.rule;
    EXPECT_EQ(finding->cause, find_rule(pair.rule)->cause);
    EXPECT_FALSE(finding->title.form.empty() || finding->detail.form.empty()) << pair.rule;
    EXPECT_FALSE(finding->changes.empty() || finding->verify.empty()) << pair.rule;
  }
}

TEST(EveryRule, IsNotTriggeredByWhatComesClose) {
  for (const Pair& pair : pairs()) {
    EXPECT_TRUE(pair.is_counted || pair.close >= 0.9 * pair.triggers) << pair.rule << ": not close";
    const Advice advice = pair.tables(pair.close).advise();
    EXPECT_EQ(finding_of(advice, pair.rule), nullptr) << pair.rule;
    // It judged, and did not only lack its tables.
    EXPECT_EQ(std::ranges::count(advice.not_judged, pair.rule, &NotJudged::rule), 0) << pair.rule;
  }
}

}  // namespace
}  // namespace stepscope::advice
