// The CPU makes or prepares each batch in the training loop, and the GPU waits for it: random
// numbers, masks, augmentation. Also other operators that work on the CPU in between.
#include <algorithm>
#include <array>
#include <string>

#include "advice/host_stall.h"
#include "advice/host_tasks.h"
#include "advice/rule.h"

namespace stepscope::advice {
namespace {

constexpr std::array kHostDataNeeds =
    std::to_array<Need>({{"steps", "times"}, {"stalls", "kinds"}});
constexpr std::array<std::string_view, 2> kHostDataReads = {"host-work", "stalls"};

double host_data_idle_ns(const Facts& facts, const RankSteps& rank) {
  return facts.stall(rank, "data").idle_ns + facts.stall(rank, "operators").idle_ns;
}

struct HostDataCase {
  TaskPerStep task;
  std::string name;  // of the task
  std::optional<TaskOperatorOfMost> most;
  bool is_copied = false;  // to the GPU, after it
  bool by_python = false;  // most of it without any operator
  bool is_random = false;
};

HostDataCase host_data_case(const Facts& facts, const RankSteps& rank) {
  HostDataCase out;
  out.is_copied = facts.stall(rank, "data").idle_ns >= facts.stall(rank, "operators").idle_ns;
  out.name = out.is_copied ? "data" : "operators";
  out.task = task_of(facts, rank, out.name);
  out.most = longest_operator(facts, rank, out.name);
  out.by_python = out.is_copied && out.task.quiet_ns > out.task.operators_ns;
  out.is_random = !out.by_python && out.most && out.most->purpose == "random";
  return out;
}

void say_host_data(Finding& finding, const HostDataCase& found, double share_of_step) {
  const TaskPerStep& task = found.task;
  finding.measured.name = "GPU idle while the CPU prepares data in the loop, of the step";
  if (!found.is_copied) {
    finding.title = {
        "Operators work on the CPU in the loop, and the GPU waits for them: {} of each "
        "step",
        {share(share_of_step)}};
    finding.detail = {
        "{} per step pass in operators on tensors that lie on the CPU, while nothing "
        "is launched on the GPU.",
        {nanos(task.operators_ns)}};
    return;
  }
  finding.title = {found.is_random
                       ? "The CPU makes random data in the loop, and the GPU waits for it: {} of "
                         "each step"
                   : found.by_python
                       ? "Python works before each batch is copied to the GPU, which waits: {} of "
                         "each step"
                       : "The CPU prepares each batch in the loop, and the GPU waits for it: {} of "
                         "each step",
                   {share(share_of_step)}};
  if (found.by_python) {
    finding.detail = {
        "For {} per step no operator of PyTorch runs, and right after it {} are copied to the GPU "
        "from memory that is not pinned, as data are that were just made. Most likely NumPy or "
        "Python makes or changes the batch there: masks, augmentation, tokenising.",
        {nanos(task.quiet_ns), bytes(task.up_bytes)}};
    return;
  }
  finding.detail = {
      "{} per step pass in operators on the CPU that make what is copied to the GPU "
      "next ({}), one batch after the other: meanwhile the GPU has nothing to do.",
      {nanos(task.operators_ns), bytes(task.up_bytes)}};
  if (task.quiet_ns > 0.1 * task.host_ns) {
    finding.detail.form += " {} more pass between them without any operator.";
    finding.detail.figures.push_back(nanos(task.quiet_ns));
  }
}

std::vector<Change> host_data_changes(const Facts& facts, const HostDataCase& found) {
  const Change workers{
      "Prepare batches in worker processes, while the GPU trains on those before.",
      facts.by_framework(
          "class Prepared(torch.utils.data.Dataset):\n"
          "    def __getitem__(self, index):  # what the loop did with each sample\n"
          "        return prepare(self.samples[index])\n"
          "loader = DataLoader(Prepared(...), num_workers=4, pin_memory=True)",
          "class Prepared(torch.utils.data.Dataset):\n"
          "    def __getitem__(self, index):  # what training_step did with each sample\n"
          "        return prepare(self.samples[index])\n"
          "DataLoader(Prepared(...), num_workers=4, pin_memory=True)  # train_dataloader()",
          "dataset = dataset.map(prepare)  # once, before training\n"
          "TrainingArguments(..., dataloader_num_workers=4)")};
  const Change device{"Do it on the GPU: copy what is there first, then call the same operators.",
                      "batch = batch.to(\"cuda\", non_blocking=True)\n"
                      "batch = prepare(batch)  # its operators run on the GPU now"};
  if (found.is_random) {
    return {
        {"Make random data on the GPU.",
         "x = torch.randn(shape, device=\"cuda\")  # instead of torch.randn(shape).to(\"cuda\")"},
        workers};
  }
  if (found.by_python) return {workers};
  return found.is_copied ? std::vector<Change>{workers, device} : std::vector<Change>{device};
}

std::vector<Finding> judge_host_data(const Facts& facts) {
  const auto ranks = worst_ranks(
      facts, kHostData.id, [&](const RankSteps& rank) { return host_data_idle_ns(facts, rank); });
  if (ranks.empty()) return {};
  const RankSteps& rank = *ranks.front().rank;
  const HostDataCase found = host_data_case(facts, rank);
  const double idle = host_data_idle_ns(facts, rank);
  // A host that is ahead of the GPU hides a part of what it makes: more is gained than the wait.
  const double hidden = std::max(0.0, found.task.host_ns - idle);
  // What is made elsewhere and in time is copied from pinned memory, or not at all.
  const StallPerStep upload = facts.stall(rank, "upload");
  const double copies = found.task.pageable_bytes > 0 ? upload.idle_ns + upload.copy_ns : 0;
  Finding finding = begin_finding(
      facts, kHostData, ranks, (1 - kHostVaries) * idle,
      (1 + kHostMore) * (idle + copies + std::min(hidden, lost_lead(facts, rank, idle))));
  say_host_data(finding, found, ranks.front().share);
  if (found.by_python) finding.confidence = std::min(finding.confidence, Confidence::kMedium);
  finding.about_gain = {" The same work takes the CPU up to {} less or {} more at another time.",
                        {share(kHostVaries), share(kHostMore)}};
  if (copies > 0) {
    finding.about_gain.form +=
        " The larger one holds the copy itself ({}), which pinned memory or data made on the GPU "
        "save.";
    finding.about_gain.figures.push_back(nanos(copies));
  }
  add_operators(finding, facts, rank, found.name);
  add_frames(finding, facts, rank, found.name);
  if (finding.evidence.empty()) add_places(finding, facts, rank, found.name);
  finding.changes = host_data_changes(facts, found);
  finding.verify =
      "Record again: `stepscope analyze host-work new.json` shows less under '" + found.name + "'.";
  return {finding};
}

}  // namespace

const Rule kHostData{
    .id = "host-data",
    .cause = "host-compute",
    .asks = "Does the GPU wait while the CPU makes or prepares data in the loop?",
    .needs = kHostDataNeeds,
    .wanted = Wanted::kDeviceWork,
    .judge = judge_host_data,
    .reads = kHostDataReads,
    .says_bounds = true,
};

}  // namespace stepscope::advice
