// A step on the CPU goes by in calling operators that have hardly anything to do: batches of a few
// samples, values taken out one by one, Python loops over time steps, an optimizer by parameter.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "advice/cpu_step.h"
#include "advice/host_stall.h"
#include "advice/rule.h"

namespace stepscope::advice {
namespace {

constexpr std::array kOperatorOverheadNeeds =
    std::to_array<Need>({{"steps", "times"}, {"loop", "parts"}});
constexpr std::array<std::string_view, 3> kOperatorOverheadReads = {"throughput", "loader",
                                                                    "system"};

constexpr std::string_view kValues = "single values";
constexpr std::string_view kForwardPart = "forward";
constexpr std::string_view kOptimizerPart = "optimizer";

double overhead_ns(const Facts& facts, const RankSteps& rank) {
  double out = 0;
  for (const std::string_view part :
       {kForwardPart, std::string_view("no gradients"), std::string_view("backward"),
        kOptimizerPart, std::string_view("Python")}) {
    out += loop_part(facts, rank, part).short_ns;
  }
  // All of it: the values would be taken out at once.
  return out + loop_part(facts, rank, kValues).ns;
}

// Relative to the untraced step; worst_ranks divides by the recorded one.
double overhead_weight(const Facts& facts, const RankSteps& rank) {
  // A step alone may be warm-up, and a few operators are no loop over small ones.
  const double least = facts.threshold(kOperatorOverhead.id, "operators");
  if (rank.step_ns <= 0 || rank.steps < 2 || whole_loop(facts, rank).calls < least) return 0;
  return overhead_ns(facts, rank) / cpu_step_ns(facts, rank) * rank.step_ns;
}

// Samples in a batch, as the loader gave them; 0: not known.
double samples_of_batch(const Facts& facts, std::int32_t rank) {
  double most = 0;
  double out = 0;
  for (const Line& line : facts.lines("loader", "loaders", rank)) {
    if (line.text("phase") != "training" || line.number("batches") <= most) continue;
    most = line.number("batches");
    out = line.has_value("samples") ? line.number("samples") / most : 0;
  }
  return out;
}

// An operator of the forward pass that comes again and again within a step.
struct Repeated {
  std::string name;
  double calls = 0;  // per step
};
Repeated most_repeated(const Facts& facts, const RankSteps& rank) {
  Repeated out;
  double steps = 0;
  for (const Line& line : facts.lines("loop", "steps", rank.rank)) steps = line.number("steps");
  for (const Line& line : facts.lines("loop", "names", rank.rank)) {
    if (line.text("part") != kForwardPart || steps <= 0) continue;
    if (line.number("calls") / steps <= out.calls) continue;
    out = {std::string(line.text("name")), line.number("calls") / steps};
  }
  return out;
}

Change fewer_values(const Facts& facts) {
  return {
      "Take all values out at once, or as a tensor that is read once in a while: a list of "
      "Python numbers from one call, an average kept as a tensor.",
      facts.by_framework(
          "values = losses.tolist()          # one call, not one for each value\n"
          "total += loss.detach()            # stays a tensor; .item() when it is shown",
          "values = losses.tolist()          # one call, not one for each value\n"
          "self.log(\"loss\", loss)            # the tensor itself, not loss.item()",
          "values = losses.tolist()          # one call, not one for each value")};
}

Change larger_batches(const Facts& facts) {
  return {
      "Put more samples into a batch: an operator costs about the same for 2 as for 32. Adjust "
      "the learning rate, or keep it if the optimizer adapts.",
      facts.by_framework("loader = DataLoader(dataset, batch_size=32, ...)",
                         "DataLoader(self.dataset, batch_size=32, ...)",
                         "TrainingArguments(..., per_device_train_batch_size=32)")};
}

std::vector<Change> overhead_changes(const Facts& facts, const RankSteps& rank, bool few_samples,
                                     bool repeats) {
  std::vector<Change> out;
  const double all = overhead_ns(facts, rank);
  if (loop_part(facts, rank, kValues).ns >= all / 3) out.push_back(fewer_values(facts));
  if (few_samples) out.push_back(larger_batches(facts));
  if (repeats) {
    out.push_back(
        {"Use a layer that takes the whole sequence in one call, or compute what does not depend "
         "on the step before for all steps at once.",
         "lstm = torch.nn.LSTM(inputs, hidden, batch_first=True)  # one call for all time steps\n"
         "output, state = lstm(series)"});
  }
  constexpr double kMuchOptimizer = 0.3;
  if (loop_part(facts, rank, kOptimizerPart).short_ns >= kMuchOptimizer * all) {
    out.push_back({"Let the optimizer update all parameters in one operator.",
                   "torch.optim.AdamW(model.parameters(), lr=..., fused=True)  # Adam, SGD and "
                   "Adagrad have it, too"});
  }
  if (out.empty() || !few_samples) {
    out.push_back({"Let the compiler make fewer and larger operators of them.",
                   facts.by_framework("model = torch.compile(model)",
                                      "model = torch.compile(model)  # before trainer.fit",
                                      "TrainingArguments(..., torch_compile=True)")});
  }
  if (!few_samples && !repeats && loop_part(facts, rank, kValues).ns < all / 3) {
    out.push_back(larger_batches(facts));
  }
  return out;
}

std::vector<Finding> judge_operator_overhead(const Facts& facts) {
  if (!trains_on_cpu(facts)) return {};
  const auto ranks = worst_ranks(facts, kOperatorOverhead.id, [&](const RankSteps& rank) {
    return overhead_weight(facts, rank);
  });
  if (ranks.empty()) return {};
  const RankSteps& rank = *ranks.front().rank;
  const double step = cpu_step_ns(facts, rank);
  const double overhead = overhead_ns(facts, rank);
  const LoopPart values = loop_part(facts, rank, kValues);
  const bool of_values = values.ns >= overhead / 2;
  // Values taken out at once cost next to nothing; what operators cost is only made smaller.
  Finding finding = begin_finding(facts, kOperatorOverhead, ranks, 0, 0);
  set_cpu_gain(facts, rank, finding, of_values ? kHidden * values.ns : 0, overhead);
  finding.level = std::min(finding.level, Level::kWarning);
  finding.measured.threshold = facts.threshold_of(kOperatorOverhead.id, finding.level);
  finding.measured.name =
      "operators and gaps between them too short for any arithmetic, of the step";
  finding.confidence = std::min(finding.confidence, Confidence::kMedium);
  const double calls = whole_loop(facts, rank).calls;
  const double samples = samples_of_batch(facts, rank.rank);
  constexpr double kFewSamples = 8;
  const bool few = samples > 0 && samples <= kFewSamples && !of_values;
  const Repeated repeated = most_repeated(facts, rank);
  constexpr double kOften = 48;
  const bool repeats = repeated.calls >= kOften && !of_values;
  if (of_values) {
    finding.title = {"Values are taken out of tensors one at a time: {} of each step",
                     {share(values.ns / step)}};
    finding.detail = {
        "{} per step go by in calls of .item(), and in what picks each value: each call costs some "
        "microseconds, whatever it brings.",
        {nanos(values.ns)}};
  } else if (few) {
    finding.title = {"Batches are too small for the CPU: {} of each step is calling operators",
                     {share(overhead / step)}};
    finding.detail = {
        "A batch has {} samples. A step calls {} operators, and most have so little to compute "
        "that calling them takes longer: {} per step.",
        {Figure(samples, base::Unit::kNone), count(std::round(calls)), nanos(overhead)}};
  } else {
    finding.title = {"The step goes by in calling small operators: {} of it",
                     {share(overhead / step)}};
    finding.detail = {
        "A step calls {} operators from Python, and most have so little to compute that calling "
        "them, and Python between them, takes longer: {} per step.",
        {count(std::round(calls)), nanos(overhead)}};
  }
  if (repeats) {
    finding.detail.form +=
        " '{}' alone is called {} times in a forward pass, as a Python loop over time steps does.";
    finding.detail.figures.emplace_back(std::string_view(repeated.name));
    finding.detail.figures.push_back(count(std::round(repeated.calls)));
  }
  std::size_t shown = 0;
  double steps = 0;
  for (const Line& line : facts.lines("loop", "steps", rank.rank)) steps = line.number("steps");
  for (const Line& line : facts.lines("loop", "names", rank.rank)) {
    if (shown == kMostEvidence || line.text("part") == "data") continue;
    if (of_values && line.text("part") != kValues) continue;
    if (line.number("short_ns") < 0.3 * line.number("sum_ns") || line.number("calls") < 10 * steps)
      continue;
    ++shown;
    finding.evidence.push_back(
        {.text = {"{}: {} calls per step, {} in traced steps",
                  {line.text("name"), count(std::round(line.number("calls") / steps)),
                   nanos(line.number("mean_ns"))}},
         .rank = rank.rank});
  }
  finding.changes = overhead_changes(facts, rank, few, repeats);
  finding.verify =
      "Record again: `stepscope analyze loop new.json` shows fewer calls, and less under short.";
  return {finding};
}

std::string why_not_operator_overhead(const Facts& facts) {
  return trains_on_cpu(facts) ? std::string()
                              : "A GPU was at work: launch-bound judges what calling operators "
                                "costs there";
}

}  // namespace

const Rule kOperatorOverhead{
    .id = "operator-overhead",
    .cause = "operators",
    .asks = "Does a step on the CPU go by in calling small operators?",
    .needs = kOperatorOverheadNeeds,
    .wanted = Wanted::kNothing,
    .judge = judge_operator_overhead,
    .why_not = why_not_operator_overhead,
    .of_device = false,
    .reads = kOperatorOverheadReads,
    .runs_dry = false,
};

}  // namespace stepscope::advice
