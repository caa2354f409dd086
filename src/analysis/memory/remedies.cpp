#include "analysis/memory/remedies.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

namespace stepscope::analysis {
namespace {

using base::Bytes;

constexpr int kShards = 8;                  // of the sharded rows: one machine's GPUs
constexpr std::size_t kRemediesPlaces = 3;  // places whose activations are named
constexpr Bytes kSureMargin = 4;  // times the need: recomputing keeps inputs and moves the peak

Bytes of(const Failure& failure, Category category) {
  return failure.by_category[static_cast<std::size_t>(category)];
}

Fits enough(Bytes saves, const Failure& failure) {
  return saves >= failure.short_by ? Fits::kYes : Fits::kNo;
}

// In which part of a step the request failed.
Place remedies_place_at(const HistoryWork& work, std::uint32_t event) {
  const auto& places = work.categories.passes.place;
  return event < places.size() ? places[event] : Place::kNoStack;
}

// What a forward pass that fails has kept for the pass back is freed as if it were scratch memory.
Category category_at(const HistoryWork& work, AllocationId id, Place failed_in) {
  const Category category = work.categories.category[id];
  const Allocation& life = work.allocations.list[id];
  const bool of_forward = failed_in == Place::kForward && !life.is_older() &&
                          remedies_place_at(work, life.alloc) == Place::kForward;
  return of_forward && category == Category::kTemporaries ? Category::kActivations : category;
}

std::string amount(Bytes bytes) {
  const auto mib = static_cast<double>(bytes) / 1048576.0;
  return mib < 1024 ? fmt::format("{:.1f} MiB", mib) : fmt::format("{:.2f} GiB", mib / 1024);
}

// The cheapest of all: the memory is there, the process only may not take it.
void add_limit(const Failure& failure, std::vector<Remedy>& out) {
  if (!failure.is_own_limit) return;
  const Bytes needed = failure.state->at.reserved + failure.from_driver;
  out.push_back(
      {fmt::format("a limit of the process of {}", amount(needed)), failure.short_by, Fits::kYes,
       fmt::format("the driver had {} free: "
                   "torch.cuda.set_per_process_memory_fraction({} / torch.cuda.mem_get_info()[1]) "
                   "or more, or per_process_memory_fraction in PYTORCH_CUDA_ALLOC_CONF",
                   amount(failure.driver_free), needed)});
}

void add_remedies_settings(const Failure& failure, const HistoryWork& work,
                           const Forecasts& forecasts, std::vector<Remedy>& out) {
  // A forecast counts how many of the failures it serves; with one failure that is this one.
  const std::uint64_t failures = work.replay.ooms.size();
  for (const SettingForecast& one : forecasts.list) {
    if (one.result.failed > 0 || one.result.ooms_served < failures) continue;
    const Fits fits = one.ooms_served_surely >= failures ? Fits::kYes : Fits::kPerhaps;
    const Bytes saved = work.replay.peak_reserved.reserved - one.result.peak_reserved;
    std::string how = fmt::format(
        "set PYTORCH_CUDA_ALLOC_CONF={}; the same program, replayed, then finds room", one.setting);
    if (fits == Fits::kPerhaps && forecasts.limit) {
      how += fmt::format(" with a limit of {}, but not with one of {}: it lies between them",
                         amount(forecasts.limit->at_most), amount(forecasts.limit->at_least));
    }
    out.push_back({one.setting, saved > 0 ? std::optional(saved) : std::nullopt, fits, how});
    if (failure.is_in_pieces) continue;
    break;  // the first that helps is enough
  }
}

void add_gradients(const Failure& failure, const HistoryWork& work, std::vector<Remedy>& out) {
  const Bytes gradients = of(failure, Category::kGradients);
  if (gradients == 0 || remedies_place_at(work, failure.event) != Place::kForward) return;
  out.push_back({"no gradients during the forward pass", gradients, enough(gradients, failure),
                 "call zero_grad(set_to_none=True) before the forward pass, not behind it"});
}

void add_chunks(const Failure& failure, const std::string& where, std::vector<Remedy>& out) {
  const Bytes room = failure.from_driver - failure.short_by;
  // Under a limit of its own nobody knows how much room there was.
  int parts = failure.is_own_limit ? 4 : 2;
  while (!failure.is_own_limit && parts < 16 && failure.from_driver / parts > room) parts *= 2;
  const Bytes saves = failure.from_driver - failure.from_driver / parts;
  const Fits fits = failure.is_own_limit && enough(saves, failure) == Fits::kNo
                        ? Fits::kPerhaps
                        : enough(saves, failure);
  out.push_back({fmt::format("this request in {} parts", parts), saves, fits,
                 fmt::format("compute {} in {} pieces one after the other",
                             where.empty() ? "the operator" : where, parts)});
}

void add_batch(const Failure& failure, std::int64_t batch, std::vector<Remedy>& out) {
  // What grows with the batch, the request included if it is of that sort.
  const Bytes scales = of(failure, Category::kActivations) + of(failure, Category::kInputs) +
                       of(failure, Category::kTemporaries) + failure.from_driver;
  if (scales <= failure.from_driver) return;
  const double share = static_cast<double>(failure.short_by) / static_cast<double>(scales);
  if (batch > 0) {
    const Bytes per_sample = scales / batch;
    const auto fewer = static_cast<std::int64_t>(std::ceil(share * static_cast<double>(batch)));
    const Bytes saves = std::min(batch, fewer) * per_sample;
    out.push_back({fmt::format("a batch of {} instead of {}",
                               std::max<std::int64_t>(0, batch - fewer), batch),
                   saves, fewer < batch ? Fits::kPerhaps : Fits::kNo,
                   fmt::format("each sample takes about {:.1f} MiB of activations, inputs and this "
                               "request",
                               static_cast<double>(per_sample) / 1048576.0)});
    return;
  }
  const double percent = std::ceil(share * 100);
  out.push_back({fmt::format("a batch {:.0f} % smaller", std::min(percent, 100.0)),
                 static_cast<Bytes>(static_cast<double>(scales) * std::min(percent, 100.0) / 100),
                 percent < 100 ? Fits::kPerhaps : Fits::kNo,
                 fmt::format("each percent of the batch takes about {:.1f} MiB of activations, "
                             "inputs and this request; --batch-size turns it into samples",
                             static_cast<double>(scales) / 100 / 1048576.0)});
}

void add_activations(const Failure& failure, const HistoryWork& work, const StackTexts& texts,
                     std::vector<Remedy>& out) {
  const Bytes all = of(failure, Category::kActivations);
  if (all == 0) return;
  std::vector<const AliveGroup*> places;
  std::vector<memory::StackId> stacks;
  for (const AliveGroup& group : failure.alive) {
    if (group.category != Category::kActivations) continue;
    places.push_back(&group);
    stacks.push_back(work.allocations.list[group.first].stack);
    if (places.size() == kRemediesPlaces) break;
  }
  const std::vector<std::string> told = texts.told_apart(stacks);
  for (std::size_t i = 0; i < places.size(); ++i) {
    const AliveGroup& group = *places[i];
    const std::string& where = told[i];
    if (where.empty() || group.bytes == all) continue;
    out.push_back(
        {fmt::format("recompute what {} keeps", where), group.bytes,
         enough(group.bytes, failure) == Fits::kYes ? Fits::kPerhaps : Fits::kNo,
         "torch.utils.checkpoint around it; at most this much, the pass back gets slower"});
  }
  const bool is_sure = all / kSureMargin >= failure.short_by;
  const bool fits = enough(all, failure) == Fits::kYes;
  std::string how =
      "torch.utils.checkpoint around each block; its inputs stay, about a third more compute";
  if (fits && !is_sure) {
    how += "; not sure, as inputs and the block that is computed again take some of it";
  }
  out.push_back({"recompute all activations", all,
                 is_sure ? Fits::kYes
                 : fits  ? Fits::kPerhaps
                         : Fits::kNo,
                 std::move(how)});
}

void add_optimizer(const Failure& failure, std::vector<Remedy>& out) {
  const Bytes state = of(failure, Category::kOptimizerState);
  if (state == 0) return;
  const Bytes eighth = state / 4 * 3;
  out.push_back({"8-bit optimizer state", eighth, enough(eighth, failure),
                 "an optimizer with 8-bit state, if it is 32-bit now"});
  const Bytes sharded = state / kShards * (kShards - 1);
  out.push_back({fmt::format("optimizer state over {} GPUs", kShards), sharded,
                 enough(sharded, failure), "ZeroRedundancyOptimizer or ZeRO stage 1"});
  const Bytes everything =
      (state + of(failure, Category::kParameters) + of(failure, Category::kGradients)) / kShards *
      (kShards - 1);
  out.push_back({fmt::format("model over {} GPUs", kShards), everything,
                 enough(everything, failure), "FSDP: parameters, gradients and optimizer state"});
}

}  // namespace

Failure examine(const HistoryWork& work, std::size_t oom, std::uint32_t event) {
  const allocator::Rules& rules = work.replay.rules;
  Failure out;
  out.event = event;
  out.state = &work.replay.ooms[oom];
  out.asked = rules.rounded(work.history->size[event]);
  out.from_driver = taken_for(rules, out.asked);
  out.driver_free = driver_free_at(*work.history, event);
  out.is_own_limit = out.driver_free >= out.from_driver;
  if (out.is_own_limit) out.limit = limit_seen(*work.history, work.replay);
  out.is_in_pieces = out.state->usable >= out.asked;
  // Under a limit of its own, what the process once had is what it may surely have.
  const Bytes room =
      out.is_own_limit
          ? std::max<Bytes>(0, work.replay.peak_reserved.reserved - out.state->at.reserved)
          : out.driver_free;
  out.short_by = std::max<Bytes>(0, out.from_driver - room);
  std::map<std::pair<std::uint32_t, Category>, AliveGroup> groups;
  for (std::size_t id = 0; id < work.allocations.list.size(); ++id) {
    const Allocation& life = work.allocations.list[id];
    const bool begun = life.is_older() || life.alloc < event;
    if (!begun || (life.freed != kNoEvent && life.freed <= event)) continue;
    const Category category =
        category_at(work, static_cast<AllocationId>(id), remedies_place_at(work, event));
    const Bytes size = work.replay.block_size[id];
    AliveGroup& group = groups[{work.group[id], category}];
    if (group.count++ == 0) group.first = static_cast<AllocationId>(id);
    group.bytes += size;
    out.by_category[static_cast<std::size_t>(category)] += size;
  }
  for (auto& [key, group] : groups) {
    group.group = key.first;
    group.category = key.second;
    out.alive.push_back(group);
  }
  std::ranges::stable_sort(out.alive, std::ranges::greater{}, &AliveGroup::bytes);
  return out;
}

std::vector<Remedy> remedies(const HistoryWork& work, const StackTexts& texts,
                             const Failure& failure, const Forecasts& forecasts,
                             std::int64_t batch) {
  std::vector<Remedy> out;
  add_limit(failure, out);
  add_remedies_settings(failure, work, forecasts, out);
  add_gradients(failure, work, out);
  add_batch(failure, batch, out);
  add_activations(failure, work, texts, out);
  add_chunks(failure, texts.representative(work.history->stack[failure.event]), out);
  add_optimizer(failure, out);
  std::ranges::stable_sort(out, {}, [](const Remedy& way) { return way.enough == Fits::kNo; });
  return out;
}

}  // namespace stepscope::analysis
