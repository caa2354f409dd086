// One process drives several GPUs with nn.DataParallel: it copies the model to each of them in
// every step, and one Python thread after the other launches their work.
#include <algorithm>
#include <array>

#include "advice/rule.h"

namespace stepscope::advice {
namespace {

constexpr std::array kDataParallelNeeds = std::to_array<Need>({{"steps", "times"}});
constexpr std::array<std::string_view, 2> kDataParallelReads = {"operators", "overview"};

// The functions that DataParallel is made of, as autograd records them. Tensor-parallel code has
// some of them, but not both.
bool spreads_and_collects(const Facts& facts, std::int32_t rank) {
  bool spreads = false;
  bool collects = false;
  for (const Line& line : facts.lines("operators", "operators", rank)) {
    const std::string_view name = line.text("name");
    spreads |= name == "Broadcast" || name == "BroadcastBackward";
    collects |= name == "Gather" || name == "GatherBackward";
  }
  return spreads && collects;
}

// Its parts of a backward pass.
bool trains(const Facts& facts, std::int32_t rank) {
  const auto lines = facts.lines("operators", "operators", rank);
  return std::ranges::any_of(lines, [](const Line& line) {
    const std::string_view name = line.text("name");
    return name == "BroadcastBackward" || name == "GatherBackward" ||
           name.starts_with("autograd::engine");
  });
}

std::size_t devices_of(const Facts& facts, std::int32_t rank) {
  return facts.lines("overview", "devices", rank).size();
}

std::vector<Finding> judge_data_parallel(const Facts& facts) {
  for (const RankSteps& rank : facts.ranks()) {
    const std::size_t devices = devices_of(facts, rank.rank);
    if (devices < 2 || !spreads_and_collects(facts, rank.rank)) continue;
    // No gain: what it costs depends on the model and the links.
    Finding finding{.rule = kDataParallel.id, .cause = kDataParallel.cause};
    finding.level = Level::kWarning;
    finding.ranks = {rank.rank};
    finding.confidence = Confidence::kHigh;
    finding.title = {"One process drives {} GPUs (nn.DataParallel)",
                     {count(static_cast<double>(devices))}};
    finding.measured = {"GPUs of one process under DataParallel", static_cast<double>(devices), 2,
                        base::Unit::kCount};
    finding.detail = {
        "nn.DataParallel copies the model to every GPU in every step, gathers the results on one "
        "of them, and its threads share one interpreter. A process per GPU does none of that."};
    finding.changes = {{"A process for each GPU, each with its own batches.",
                        "# torchrun --nproc-per-node=N predict.py: model.to(local_rank)"}};
    if (trains(facts, rank.rank))
      finding.changes = {
          {"A process for each GPU.",
           facts.by_framework("# torchrun --nproc-per-node=N train.py\n"
                              "torch.distributed.init_process_group(\"nccl\")\n"
                              "model = DistributedDataParallel(model, device_ids=[local_rank])",
                              "Trainer(..., strategy=\"ddp\")",
                              "# torchrun --nproc-per-node=N train.py: Trainer does the rest")}};
    finding.verify =
        "Record again: every rank has one GPU, and `stepscope analyze operators new.json` has no "
        "Broadcast and no Gather.";
    return {finding};
  }
  return {};
}

}  // namespace

const Rule kDataParallel{
    .id = "data-parallel",
    .cause = "communication",
    .asks = "Does one process drive several GPUs?",
    .needs = kDataParallelNeeds,
    .wanted = Wanted::kDeviceWork,
    .judge = judge_data_parallel,
    .reads = kDataParallelReads,
    .runs_dry = false,
};

}  // namespace stepscope::advice
