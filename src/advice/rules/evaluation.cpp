// A model runs without gradients in the steps of a training on the CPU: evaluation in every step,
// most likely.
#include <algorithm>
#include <array>
#include <cmath>

#include "advice/cpu_step.h"
#include "advice/host_stall.h"
#include "advice/rule.h"

namespace stepscope::advice {
namespace {

constexpr std::array kEvaluationNeeds =
    std::to_array<Need>({{"steps", "times"}, {"loop", "parts"}});
constexpr std::array<std::string_view, 1> kEvaluationReads = {"throughput"};

double evaluation_ns(const Facts& facts, const RankSteps& rank) {
  return loop_part(facts, rank, "no gradients").ns;
}

// The same model as the one that learns has its operators, once or several times.
bool is_same_model(const Facts& facts, std::int32_t rank) {
  for (const Line& line : facts.lines("loop", "steps", rank)) {
    const std::int64_t learning = line.whole("learning");
    return learning > 0 && line.whole("evaluating") % learning == 0;
  }
  return false;
}

std::vector<Finding> judge_evaluation(const Facts& facts) {
  if (!trains_on_cpu(facts)) return {};
  const auto ranks = worst_ranks(facts, kEvaluation.id, [&](const RankSteps& rank) {
    return evaluation_ns(facts, rank) / cpu_step_ns(facts, rank) * rank.step_ns;
  });
  if (ranks.empty()) return {};
  const RankSteps& rank = *ranks.front().rank;
  const double ns = evaluation_ns(facts, rank);
  const bool same = is_same_model(facts, rank.rank);
  // Every tenth time is still often; another model may be a teacher, which is needed.
  Finding finding = begin_finding(facts, kEvaluation, ranks, 0, 0);
  set_cpu_gain(facts, rank, finding, same ? kHidden * kHidden * ns : 0, ns);
  finding.level = std::min(finding.level, same ? Level::kCritical : Level::kWarning);
  finding.measured.threshold = facts.threshold_of(kEvaluation.id, finding.level);
  finding.measured.name = "operators of a model without gradients, of the step";
  if (!same) finding.confidence = std::min(finding.confidence, Confidence::kMedium);
  finding.title = same ? Sentence{"The model is evaluated in the training steps: {} of each step",
                                  {share(ranks.front().share)}}
                       : Sentence{
                             "A model runs without gradients in the training steps: {} of "
                             "each step",
                             {share(ranks.front().share)}};
  finding.detail = {same ? "Beside the pass that learns, the same operators run once more without "
                           "gradients (torch.no_grad), for {} of each step. Nothing learns "
                           "meanwhile."
                         : "Beside the pass that learns, operators of a model run without "
                           "gradients (torch.no_grad), for {} of each step: evaluation, or a "
                           "model that is not trained (a teacher, a frozen part).",
                    {nanos(ns)}};
  double steps = 0;
  for (const Line& line : facts.lines("loop", "steps", rank.rank)) steps = line.number("steps");
  for (const Line& line : facts.lines("loop", "names", rank.rank)) {
    if (line.text("part") != "no gradients" || finding.evidence.size() == kMostEvidence) continue;
    finding.evidence.push_back(
        {.text = {"{} without gradients: {} calls per step, {}",
                  {line.text("name"), count(std::round(line.number("calls") / steps)),
                   nanos(line.number("mean_ns"))}},
         .rank = rank.rank});
  }
  finding.changes = {{"Evaluate more rarely: every so many steps, or after each pass.",
                      facts.by_framework("if step % 100 == 0:\n    evaluate(model, held_back)",
                                         "Trainer(..., val_check_interval=100)",
                                         "TrainingArguments(..., eval_strategy=\"steps\", "
                                         "eval_steps=100)")}};
  if (!same) {
    finding.changes.push_back(
        {"If it is a part that is never trained: compute its output once for each sample, and "
         "store that.",
         "# before training, once\nwith torch.inference_mode():\n"
         "    for i, sample in enumerate(dataset): torch.save(frozen(sample), f\"cache/{i}.pt\")"});
  }
  finding.verify =
      "Record again: `stepscope analyze loop new.json` shows less under 'no gradients'.";
  return {finding};
}

std::string why_not_evaluation(const Facts& facts) {
  return trains_on_cpu(facts) ? std::string()
                              : "A GPU was at work, and which of its work learns is not judged";
}

}  // namespace

const Rule kEvaluation{
    .id = "evaluation",
    .cause = "evaluation",
    .asks = "Does a model run without gradients in each step of a training on the CPU?",
    .needs = kEvaluationNeeds,
    .wanted = Wanted::kNothing,
    .judge = judge_evaluation,
    .why_not = why_not_evaluation,
    .of_device = false,
    .reads = kEvaluationReads,
    .runs_dry = false,
};

}  // namespace stepscope::advice
