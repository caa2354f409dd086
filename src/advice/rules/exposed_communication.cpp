// Communication runs on the GPU while nothing computes. What to change follows from what it is for:
// gradients are sent in other pieces, tokens to experts are not.
#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "advice/host_stall.h"
#include "advice/rule.h"

namespace stepscope::advice {
namespace {

constexpr std::array kExposedCommunicationNeeds = std::to_array<Need>({{"steps", "times"}});
constexpr std::array<std::string_view, 1> kExposedCommunicationReads = {"overlap"};

// Per step and device.
double exposed_communication_exposed_of(const Facts& facts, const RankSteps& rank) {
  double sum = 0;
  double devices = 0;
  for (const Line& line : facts.lines("overlap", "devices", rank.rank)) {
    sum += line.number("exposed_ns");
    ++devices;
  }
  return devices > 0 ? sum / devices / static_cast<double>(rank.steps) : 0;
}

// What most of the exposed time is for.
struct MainUse {
  std::string use = "unknown";
  std::string known_by = {};  // of its rows the most exposed
  double share = 0;           // of what is exposed
  double calls = 0;           // per step
  bool has_backward = false;
  bool prefetches = false;  // torchrec's pipeline is in use already
};

MainUse main_use_of(const Facts& facts, const RankSteps& rank) {
  std::map<std::string, MainUse, std::less<>> uses;
  std::map<std::string, double, std::less<>> exposed;
  double all = 0;
  bool has_backward = false;
  for (const Line& line : facts.lines("overlap", "uses", rank.rank)) {
    MainUse& one = uses[std::string(line.text("use"))];
    if (one.known_by.empty()) one.known_by = line.text("known_by");
    one.use = line.text("use");
    one.calls += line.number("count") / static_cast<double>(rank.steps);
    one.prefetches |= line.text("known_by").find("sparse_data_dist") != std::string_view::npos;
    exposed[one.use] += line.number("exposed_ns");
    all += line.number("exposed_ns");
    has_backward |= line.whole("has_backward") != 0;
  }
  MainUse out;
  for (auto& [name, one] : uses) {
    const double own = all > 0 ? exposed[name] / all : 0;
    if (own <= out.share) continue;
    out = std::move(one);
    out.share = own;
  }
  out.has_backward = has_backward;
  // Where several mechanisms share it, none of them is the one to change.
  constexpr double kMost = 0.5;
  if (out.share < kMost) out.use = "unknown";
  return out;
}

std::vector<Change> changes_for_gradients(const Facts& facts, const MainUse& use) {
  constexpr double kFew = 3;
  const bool in_one = use.calls < kFew;
  const Change pieces =
      in_one ? Change{"Send gradients in smaller pieces: the first can be sent while the backward "
                      "pass still computes the others.",
                      facts.by_framework(
                          "DistributedDataParallel(model, bucket_cap_mb=10)",
                          "Trainer(..., strategy=DDPStrategy(bucket_cap_mb=10))",
                          "TrainingArguments(..., ddp_bucket_cap_mb=10)")}
             : Change{"Send gradients while the backward pass still computes, in larger pieces.",
                      facts.by_framework("DistributedDataParallel(model, bucket_cap_mb=100, "
                                         "gradient_as_bucket_view=True)",
                                         "Trainer(..., strategy=DDPStrategy(bucket_cap_mb=100, "
                                         "gradient_as_bucket_view=True))",
                                         "TrainingArguments(..., ddp_bucket_cap_mb=100)")};
  return {pieces,
          {"Communicate once for several batches: accumulate gradients without sending them.",
           facts.by_framework("with model.no_sync():  # all but the last of the batches\n"
                              "    loss(model(x), y).backward()",
                              "Trainer(..., accumulate_grad_batches=4)",
                              "TrainingArguments(..., gradient_accumulation_steps=4)")}};
}

std::vector<Change> changes_for_shards(const Facts& facts, bool has_backward) {
  std::vector<Change> out = {
      {"Ask for the parameters of the next layer while this one computes.",
       facts.by_framework("FullyShardedDataParallel(model, forward_prefetch=True)\n"
                          "# fully_shard: layer.set_modules_to_forward_prefetch([next_layer])",
                          "Trainer(..., strategy=FSDPStrategy(forward_prefetch=True))",
                          "TrainingArguments(..., fsdp_config={\"forward_prefetch\": True})")}};
  if (!has_backward) return out;
  out.push_back(
      {"Where memory allows it, keep parameters between forward and backward pass: they are "
       "gathered once and not twice.",
       facts.by_framework(
           "FullyShardedDataParallel(model, sharding_strategy=ShardingStrategy.SHARD_GRAD_OP)\n"
           "# fully_shard(model, reshard_after_forward=False)",
           "Trainer(..., strategy=FSDPStrategy(sharding_strategy=\"SHARD_GRAD_OP\"))",
           "TrainingArguments(..., fsdp=\"shard_grad_op auto_wrap\")")});
  return out;
}

std::vector<Change> changes_by_use(const Facts& facts, const MainUse& use) {
  const std::string_view of = use.use;
  if (of == "data-parallel") return changes_for_gradients(facts, use);
  if (of == "sharded") return changes_for_shards(facts, use.has_backward);
  if (of == "tensor-parallel") {
    return {
        {"Split layers among fewer GPUs, as few as they fit on, all of them in one machine: each "
         "layer waits for these sums before the next can begin.",
         ""},
        {"Larger batches: what is computed between two sums grows faster than the time that "
         "a sum takes where messages are short.",
         ""}};
  }
  if (of == "expert-parallel") {
    return {
        {"Compute something else meanwhile: shared experts, or the other half of the batch.", ""},
        {"Give every rank as many tokens: the one that gets most keeps the others waiting.", ""}};
  }
  if (of == "embeddings") {
    std::vector<Change> out;
    if (!use.prefetches) {
      out.push_back({"Fetch the embeddings of the next batch while this one computes.",
                     "pipeline = torchrec.distributed.TrainPipelineSparseDist(model, optimizer, "
                     "device)"});
    }
    out.push_back({"Spread the tables so that every rank sends and receives as much.", ""});
    return out;
  }
  if (of == "pipeline") {
    return {
        {"More, smaller micro-batches, or several stages on each rank (an interleaved "
         "schedule): a stage waits for a smaller part of the step.",
         ""}};
  }
  if (of == "optimizer") {
    return {
        {"Send parameters while the next forward pass begins, or in fewer and larger pieces: "
         "the optimizer's step has nothing to compute beside it.",
         ""}};
  }
  return {{"See which collectives these are and what asks for them.",
           "stepscope analyze overlap PATH  # tables collectives and uses"}};
}

// "What is sent: …", in words that the trace proves.
std::string_view words_of_use(std::string_view use) {
  static constexpr std::array kWords =
      std::to_array<std::pair<std::string_view, std::string_view>>({
          {"data-parallel", "It is gradients that ranks average"},
          {"sharded",
           "It is parameters and gradients of which each rank keeps a part (FSDP, ZeRO)"},
          {"tensor-parallel", "It is sums within layers that are split among ranks"},
          {"expert-parallel", "It is tokens on their way to experts on other ranks and back"},
          {"embeddings", "It is rows of embedding tables that are split among ranks"},
          {"pipeline", "It is what one stage of a pipeline sends to the next"},
          {"optimizer", "It is what the optimizer's step sends"},
          {"all-to-all", "Every rank sends a part to every other one"},
      });
  const auto* const found =
      std::ranges::find(kWords, use, [](const auto& pair) { return pair.first; });
  return found == kWords.end() ? std::string_view() : found->second;
}

std::vector<Finding> judge_exposed_communication(const Facts& facts) {
  const auto ranks = worst_ranks(facts, kExposedCommunication.id, [&](const RankSteps& rank) {
    return exposed_communication_exposed_of(facts, rank);
  });
  if (ranks.empty()) return {};
  const RankSteps& rank = *ranks.front().rank;
  const double exposed = exposed_communication_exposed_of(facts, rank);
  const MainUse use = main_use_of(facts, rank);
  Finding finding = begin_finding(facts, kExposedCommunication, ranks, 0, exposed);
  // One rank does not show whether the network is slow or another rank is late.
  finding.level = std::min(finding.level, Level::kWarning);
  finding.confidence = std::min(finding.confidence, Confidence::kMedium);
  finding.title = {"The GPU communicates {} of each step and computes nothing meanwhile",
                   {share(ranks.front().share)}};
  finding.measured.name = "communication while nothing computes, of the step";
  finding.detail = {"{} per step. ", {nanos(exposed)}};
  if (const std::string_view words = words_of_use(use.use); !words.empty()) {
    finding.detail.form += std::string(words) + " (known by {}): {} of that time. ";
    finding.detail.figures.push_back(kernel(use.known_by));
    finding.detail.figures.push_back(share(use.share));
  }
  finding.detail.form +=
      "Either there is nothing left to compute beside it, or another rank is late and the kernel "
      "waits for it: the findings of that rank say why.";
  for (const Line& line : facts.lines("overlap", "collectives", rank.rank)) {
    if (finding.evidence.size() == kMostEvidence) break;
    if (line.number("exposed_ns") <= 0) continue;
    finding.evidence.push_back(
        {.text = {"{}: {} per step exposed, {} hidden",
                  {kernel(line.text("collective")),
                   nanos(line.number("exposed_ns") / static_cast<double>(rank.steps)),
                   share(line.number("hidden_share"))}},
         .rank = rank.rank});
  }
  finding.changes = changes_by_use(facts, use);
  finding.verify =
      "Record again: `stepscope analyze overlap new.json` shows less exposed communication.";
  return {finding};
}

}  // namespace

const Rule kExposedCommunication{
    .id = "exposed-communication",
    .cause = "communication",
    .asks = "Does the GPU communicate while it could compute?",
    .needs = kExposedCommunicationNeeds,
    .wanted = Wanted::kDeviceWork,
    .judge = judge_exposed_communication,
    .reads = kExposedCommunicationReads,
    .runs_dry = false,
};

}  // namespace stepscope::advice
