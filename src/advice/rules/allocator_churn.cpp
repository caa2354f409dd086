// Memory is taken from the driver in every step, which makes host and GPU wait for each other.
// After warm-up a step should take none. What to change depends on what is taken: GPU memory that
// was given back, that PyTorch does not keep, or of which it needs ever more; or pinned memory.
#include <algorithm>
#include <array>

#include "advice/driver_calls.h"
#include "advice/host_stall.h"
#include "advice/rule.h"

namespace stepscope::advice {
namespace {

constexpr std::array kAllocatorChurnNeeds =
    std::to_array<Need>({{"steps", "times"}, {"stalls", "kinds"}});
constexpr std::array<std::string_view, 2> kAllocatorChurnReads = {"launches", "idle-time"};

enum class Churn : std::uint8_t {
  kEmptied,   // many blocks are given back in a row, and taken again
  kUncached,  // one is taken or given back for nearly every tensor
  kGrowing,   // they are taken and not given back
  kPinned,    // pinned memory
};

struct Calls {
  DriverCalls takes, returns, pins;
  Churn sort = Churn::kEmptied;
};

double work_per_step(const Facts& facts, const RankSteps& rank) {
  double work = 0;
  for (const Line& line : facts.lines("launches", "ranks", rank.rank)) {
    work += line.number("work") / static_cast<double>(rank.steps);
  }
  return work;
}

Calls calls_of(const Facts& facts, const RankSteps& rank) {
  Calls out{driver_calls(facts, rank, "allocator", takes_gpu_memory),
            driver_calls(facts, rank, "allocator", returns_gpu_memory),
            driver_calls(facts, rank, "allocator", pins_memory)};
  constexpr double kFewReturned = 0.1;  // of those taken: the pool grows
  constexpr double kFewTaken = 10;      // per step: of those nothing is said
  constexpr double kInARow = 4;         // an emptied cache gives back at least so many in a row
  const double many = facts.threshold(kAllocatorChurn.id, "uncached");
  const DriverCalls& takes = out.takes;
  const DriverCalls& returns = out.returns;
  if (out.pins.idle_ns > takes.idle_ns + returns.idle_ns) {
    out.sort = Churn::kPinned;
  } else if (!takes.empty() && returns.count < kFewReturned * takes.count) {
    out.sort = Churn::kGrowing;
  } else if (returns.count < kInARow * returns.runs &&
             takes.count >= std::max(kFewTaken, many * work_per_step(facts, rank))) {
    out.sort = Churn::kUncached;
  }
  return out;
}

// "cudaMalloc and cudaFree", as the trace has them.
std::string names_of(const Calls& calls) {
  if (calls.takes.most.empty()) return calls.returns.most;
  if (calls.returns.most.empty()) return calls.takes.most;
  return calls.takes.most + " and " + calls.returns.most;
}

void say_emptied(Finding& finding, const Facts& facts, const Calls& calls,
                 const StallPerStep& all) {
  const std::string names = names_of(calls);
  finding.title = {
      "Every step gives GPU memory back to the system and asks for it again: {} calls per step",
      {count(calls.takes.count + calls.returns.count)}};
  finding.detail = {
      (names.empty() ? std::string("Taking and returning GPU memory costs") : names + " cost") +
          " the CPU {} per step; giving memory back also waits until the GPU is "
          "done. PyTorch keeps freed memory for the next step, so that none of this "
          "should happen after the first steps. torch.cuda.empty_cache() in the loop "
          "undoes it; so do sizes that change from step to step when memory is "
          "nearly full.",
      {nanos(names.empty() ? all.host_ns : calls.takes.host_ns + calls.returns.host_ns)}};
  if (names.empty()) finding.title.figures = {count(all.count)};
  finding.changes = {
      {"Remove torch.cuda.empty_cache() (and gc.collect() beside it) from the training loop.",
       facts.by_framework("# torch.cuda.empty_cache()    <- delete this line in the loop",
                          "# torch.cuda.empty_cache()    <- delete this line in training_step and "
                          "callbacks",
                          "TrainingArguments(..., torch_empty_cache_steps=None)")}};
  if (!is_rocm(facts)) {
    finding.changes.push_back(
        {"If there is no such line, and shapes change from step to step: let PyTorch extend its "
         "blocks of GPU memory instead of giving them back and asking for others.",
         "export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True  # in the shell or job script"});
  }
}

void say_uncached(Finding& finding, const Facts& facts, const RankSteps& rank, const Calls& calls) {
  finding.title = {
      "PyTorch keeps no GPU memory for later: it asks the driver {} times per step, and gives back "
      "{} times",
      {count(calls.takes.count), count(calls.returns.count)}};
  finding.detail = {
      calls.takes.most + " is called {} times per step for {} pieces of GPU work, with " +
          calls.returns.most +
          " here and there between them: nearly every tensor is taken from the driver and given "
          "back by itself. Both cost the CPU {} per step, and giving memory back also waits until "
          "the GPU is done. So it is where the cache of PyTorch's allocator is switched off.",
      {count(calls.takes.count), count(work_per_step(facts, rank)),
       nanos(calls.takes.host_ns + calls.returns.host_ns)}};
  finding.changes = {
      {"Switch the cache on: this variable is for looking for errors, and must not be set.",
       is_rocm(facts)
           ? "unset PYTORCH_NO_HIP_MEMORY_CACHING PYTORCH_NO_CUDA_MEMORY_CACHING  # in the shell "
             "or job script"
           : "unset PYTORCH_NO_CUDA_MEMORY_CACHING  # in the shell or job script"}};
}

void say_growing(Finding& finding, const Calls& calls) {
  finding.title = {
      "GPU memory is still taken from the system, {} calls per step, and none is given "
      "back",
      {count(calls.takes.count)}};
  finding.detail = {
      calls.takes.most +
          " costs the CPU {} per step. PyTorch keeps what tensors leave, so this ends when a step "
          "finds all that it needs. It goes on while a training warms up, and where a step needs "
          "larger blocks than those before it.",
      {nanos(calls.takes.host_ns)}};
  finding.changes = {{"Record later: if these calls are gone then, there is nothing to mend.", ""},
                     {"Where sizes differ from step to step: take the largest batch first, so that "
                      "all others find room.",
                      "train_step(largest_batch)  # once, before the loop"}};
  finding.level = std::min(finding.level, Level::kNotice);
  finding.confidence = std::min(finding.confidence, Confidence::kMedium);
  if (finding.gain) finding.gain->low = 0;
}

void say_pinned(Finding& finding, const Facts& facts, const RankSteps& rank, const Calls& calls) {
  const double held = held_launches(facts, rank, "allocator").held_ns;
  finding.title = {"Every step takes pinned memory from the system anew: {} calls per step",
                   {count(calls.pins.count)}};
  if (calls.pins.count < 1) {
    finding.title = {"Pinned memory is taken from the system again and again while training"};
  }
  finding.detail = {calls.pins.most +
                        " takes {} per step. It makes memory of the CPU such that the system never "
                        "moves it, which is slow.",
                    {nanos(calls.pins.host_ns)}};
  if (held > 0) {
    finding.detail.form +=
        " Meanwhile the driver lets no other thread in: for {} per step the thread that launches "
        "GPU work was inside a launch that did not return.";
    finding.detail.figures.push_back(nanos(held));
  }
  finding.detail.form +=
      " PyTorch keeps pinned memory for the next batch of the same size; batches of new sizes, or "
      "a cache that is emptied, take it anew.";
  finding.changes = {
      {"Keep the pinned memory: copy each batch into a buffer of the largest size, made once.",
       "buffer = torch.empty(largest_shape, pin_memory=True)  # once, before the loop\n"
       "buffer[:n].copy_(batch)\n"
       "x = buffer[:n].to(device, non_blocking=True)"}};
  if (!is_rocm(facts)) {
    finding.changes.push_back(
        {"Or let PyTorch pin with several threads, outside of the driver's lock for the most part.",
         "export PYTORCH_CUDA_ALLOC_CONF=pinned_use_cuda_host_register:True,"
         "pinned_num_register_threads:8"});
  }
}

std::vector<Finding> judge_allocator_churn(const Facts& facts) {
  const double least = facts.threshold(kAllocatorChurn.id, "steps");
  const auto ranks = worst_ranks(facts, kAllocatorChurn.id, [&](const RankSteps& rank) {
    return goes_on(facts, rank, "allocator", "count", least)
               ? facts.stall(rank, "allocator").idle_ns
               : 0;
  });
  if (ranks.empty()) return {};
  const RankSteps& rank = *ranks.front().rank;
  const StallPerStep all = facts.stall(rank, "allocator");
  const Calls calls = calls_of(facts, rank);
  const Sure sure = sure_of(facts, rank, all);
  Finding finding = begin_finding(facts, kAllocatorChurn, ranks,
                                  sure.gain_ns - spread_of_idle_ns(facts, rank, "allocator"),
                                  all.idle_ns + lost_lead(facts, rank, all.idle_ns));
  finding.measured.name = "GPU idle while the CPU takes or returns memory, of the step";
  switch (calls.sort) {
    case Churn::kEmptied:
      say_emptied(finding, facts, calls, all);
      break;
    case Churn::kUncached:
      say_uncached(finding, facts, rank, calls);
      break;
    case Churn::kGrowing:
      say_growing(finding, calls);
      break;
    case Churn::kPinned:
      say_pinned(finding, facts, rank, calls);
      break;
  }
  // Beyond the calls themselves, the gain is the lead that they cost: an estimate.
  const auto surely = static_cast<double>(finding.gain->low);
  if (surely > kHidden * all.inside_ns) {
    finding.confidence = std::min(finding.confidence, Confidence::kMedium);
  }
  say_tracing(finding, rank, sure);
  add_places(finding, facts, rank, "allocator");
  finding.verify =
      "Record again a few steps after the start: `stepscope analyze stalls new.json` has no "
      "'allocator' row";
  finding.verify += calls.sort == Churn::kPinned
                        ? "."
                        : ", and torch.cuda.memory_stats()[\"num_device_alloc\"] stays the same "
                          "from step to step.";
  return {finding};
}

std::string why_not_allocator_churn(const Facts& facts) {
  const bool enough =
      std::ranges::any_of(facts.ranks(), [](const RankSteps& rank) { return rank.steps > 1; });
  return enough ? std::string() : "One step cannot tell whether memory is taken anew in every step";
}

}  // namespace

const Rule kAllocatorChurn{
    .id = "allocator-churn",
    .cause = "allocator",
    .asks = "Is memory taken from the driver in every step?",
    .needs = kAllocatorChurnNeeds,
    .wanted = Wanted::kSteps,
    .judge = judge_allocator_churn,
    .why_not = why_not_allocator_churn,
    .reads = kAllocatorChurnReads,
};

}  // namespace stepscope::advice
