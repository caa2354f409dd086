// Why a request failed, and what would have made room for it.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "analysis/analysis.h"
#include "analysis/key_columns.h"
#include "analysis/memory/device_memory.h"
#include "analysis/memory/simulated/forecast.h"
#include "analysis/memory/snapshot_work.h"
#include "analysis/registry.h"
#include "analysis/view.h"

namespace stepscope::analysis {
namespace {

// What would have made room for a request that failed, with bytes: from the settings that cost
// nothing to the changes that cost speed.

// What was in use when a request failed.
struct AliveGroup {
  std::uint32_t group = 0;  // the place in the program
  Category category = Category::kUnknown;
  base::Bytes bytes = 0;
  std::uint64_t count = 0;
  AllocationId first = kNoAllocation;
};

struct Failure {
  std::uint32_t event = 0;
  base::Bytes asked = 0;        // rounded
  base::Bytes from_driver = 0;  // what would have been taken from the driver for it
  base::Bytes driver_free = 0;  // as the driver said
  base::Bytes short_by = 0;     // this much less in use, returned to the driver, would do
  bool is_own_limit = false;    // the driver had enough: the process may use only a share of it
  std::optional<Limit> limit;   // that one, as far as the record tells
  bool is_in_pieces = false;    // enough was free and of the right sort, but not in one piece
  const ReplayOom* state = nullptr;
  std::vector<AliveGroup> alive;  // the most first
  std::array<base::Bytes, kCategories> by_category = {};
};

struct Remedy {
  std::string what;                  // "expandable_segments:True"
  std::optional<base::Bytes> saves;  // not set: it helps without holding less
  Fits enough = Fits::kNo;
  std::string how;  // what to change, and what it costs
};

using base::Bytes;

constexpr int kShards = 8;                  // of the sharded rows: one machine's GPUs
constexpr std::size_t kRemediesPlaces = 3;  // places whose activations are named
constexpr Bytes kSureMargin = 4;  // times the need: recomputing keeps inputs and moves the peak

Bytes bytes_held_by(const Failure& failure, Category category) {
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
  const Bytes gradients = bytes_held_by(failure, Category::kGradients);
  if (gradients == 0 || remedies_place_at(work, failure.event) != Place::kForward) return;
  out.push_back({"no gradients during the forward pass", gradients, enough(gradients, failure),
                 "call zero_grad(set_to_none=True) before the forward pass, not after it"});
}

void add_chunks(const Failure& failure, const std::string& where, std::vector<Remedy>& out) {
  const Bytes room = failure.from_driver - failure.short_by;
  // Under a limit of its own it is not known how much room there was.
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
  const Bytes scales = bytes_held_by(failure, Category::kActivations) +
                       bytes_held_by(failure, Category::kInputs) +
                       bytes_held_by(failure, Category::kTemporaries) + failure.from_driver;
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
  const Bytes all = bytes_held_by(failure, Category::kActivations);
  if (all == 0) return;
  std::vector<const AliveGroup*> places;
  std::vector<memory::StackId> stacks;
  for (const AliveGroup& group : failure.alive) {
    if (group.category != Category::kActivations) continue;
    places.push_back(&group);
    stacks.push_back(work.allocations.list[group.first].stack);
    if (places.size() == kRemediesPlaces) break;
  }
  const std::vector<std::string> names = texts.told_apart(stacks);
  for (std::size_t i = 0; i < places.size(); ++i) {
    const AliveGroup& group = *places[i];
    const std::string& where = names[i];
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
  const Bytes state = bytes_held_by(failure, Category::kOptimizerState);
  if (state == 0) return;
  const Bytes eighth = state / 4 * 3;
  out.push_back({"8-bit optimizer state", eighth, enough(eighth, failure),
                 "an optimizer with 8-bit state, if it is 32-bit now"});
  const Bytes sharded = state / kShards * (kShards - 1);
  out.push_back({fmt::format("optimizer state over {} GPUs", kShards), sharded,
                 enough(sharded, failure), "ZeroRedundancyOptimizer or ZeRO stage 1"});
  const Bytes everything = (state + bytes_held_by(failure, Category::kParameters) +
                            bytes_held_by(failure, Category::kGradients)) /
                           kShards * (kShards - 1);
  out.push_back({fmt::format("model over {} GPUs", kShards), everything,
                 enough(everything, failure), "FSDP: parameters, gradients and optimizer state"});
}

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

// The cheapest first. `batch` is the batch size, 0 if not known.
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

using base::Bytes;
using base::Null;
using base::Type;
using base::Unit;

constexpr std::array kMemoryOomParameters = std::to_array<Parameter>({
    {"failures", ParameterType::kCount, "3", "failures explained per device. 0: all"},
    {"top", ParameterType::kCount, "10", "places and segments listed per failure. 0: all"},
    {"batch-size", ParameterType::kCount, "0", "samples per batch, to tell the bytes of one"},
    kDeviceMemoryParameter,
});

constexpr std::array kFailureColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    key::kSnapshot,
    key::kDevice,
    {"failure", Type::kInt, Unit::kId, "its number, from 1"},
    {"where", Type::kText, Unit::kNone, "line of the program that asked for the memory"},
    {"asked_bytes", Type::kInt, Unit::kBytes, "asked for, rounded up"},
    {"short_by_bytes", Type::kInt, Unit::kBytes,
     "with this much less in use it would have fitted; at most, where the limit is the process' "
     "own"},
    {"why", Type::kText, Unit::kNone,
     "device full; or own limit: the driver had enough, the process may not take it"},
    {"driver_free_bytes", Type::kInt, Unit::kBytes, "free on the device, as the driver says"},
    {"limit_at_least_bytes", Type::kInt, Unit::kBytes,
     "own limit: no lower than this, which the process once held; null: the device was full"},
    {"limit_at_most_bytes", Type::kInt, Unit::kBytes,
     "own limit: no higher than this, as more was refused; null: the device was full"},
    {"reserved_bytes", Type::kInt, Unit::kBytes, "held by the allocator"},
    {"used_bytes", Type::kInt, Unit::kBytes, "of it: in use"},
    {"unusable_bytes", Type::kInt, Unit::kBytes, "of it: free, but of no use to this request"},
    {"in_pieces", Type::kBool, Unit::kNone,
     "enough was free for this sort of request, but not in one piece"},
    {"largest_free_bytes", Type::kInt, Unit::kBytes,
     "the largest free block this request could have had"},
    {"other_pools_bytes", Type::kInt, Unit::kBytes,
     "free in blocks of other streams, of the other size class or of CUDA graphs"},
    {"at_ns", Type::kInt, Unit::kInstant, "since the first event"},
    {"stack", Type::kText, Unit::kNone, "calls from the outermost to the innermost"},
});
constexpr std::array kWayColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    key::kSnapshot,
    key::kDevice,
    {"failure", Type::kInt, Unit::kId, "its number, from 1"},
    {"way", Type::kText, Unit::kNone, "what to change"},
    {"enough", Type::kText, Unit::kNone, "whether it alone would have made room"},
    {"saves_bytes", Type::kInt, Unit::kBytes,
     "about; for a setting less held at the peak; null: it helps without holding less"},
    {"how", Type::kText, Unit::kNone, "how, and what it costs"},
});
constexpr std::array kAliveColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    key::kSnapshot,
    key::kDevice,
    {"failure", Type::kInt, Unit::kId, "its number, from 1"},
    {"where", Type::kText, Unit::kNone,
     "line of the program that asked for the memory; null: all the others together"},
    {"category", Type::kText, Unit::kNone, "what it holds, as far as known"},
    {"bytes", Type::kInt, Unit::kBytes, "in use when the request failed"},
    {"share", Type::kReal, Unit::kShare, "of all that was in use"},
    {"count", Type::kInt, Unit::kCount, "allocations"},
});
constexpr std::array kFreeColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    key::kSnapshot,
    key::kDevice,
    {"failure", Type::kInt, Unit::kId, "its number, from 1"},
    {"free_bytes", Type::kInt, Unit::kBytes, "free in this segment"},
    {"largest_free_bytes", Type::kInt, Unit::kBytes, "its largest free block"},
    {"segment_bytes", Type::kInt, Unit::kBytes, "size of the segment"},
    {"why_not", Type::kText, Unit::kNone, "why the request could not have it"},
    {"address", Type::kInt, Unit::kId, "of the segment"},
});
constexpr std::array kHeadroomColumns = std::to_array<base::ColumnShape>({
    key::kRank,
    key::kSnapshot,
    key::kDevice,
    {"failures", Type::kInt, Unit::kCount, "requests that failed"},
    {"peak_reserved_bytes", Type::kInt, Unit::kBytes, "the most the allocator held"},
    {"peak_used_bytes", Type::kInt, Unit::kBytes, "the most that was in use"},
    {"device_memory_bytes", Type::kInt, Unit::kBytes, "of the whole device; null: not known"},
    {"own_limit_bytes", Type::kInt, Unit::kBytes,
     "what the process may take at most, though the driver has more; null: no such limit was met"},
    {"left_bytes", Type::kInt, Unit::kBytes,
     "what the allocator never held, of its own limit where it met one"},
    {"told_by", Type::kText, Unit::kNone, "who says how much there is"},
});
constexpr std::array kMemoryOomTables = std::to_array<base::TableShape>({
    {"failures", "one request that failed", kFailureColumns},
    {"remedies", "a change that makes room, the cheapest first, those that are not enough last",
     kWayColumns},
    {"alive", "one place in the program and what it had in use when the request failed",
     kAliveColumns},
    {"free-segments", "a segment with free memory the request could not use", kFreeColumns},
    {"headroom", "one device: how close it came", kHeadroomColumns},
});

struct MemoryOomTables {
  base::Table failures{kMemoryOomTables[0]}, ways{kMemoryOomTables[1]}, alive{kMemoryOomTables[2]},
      free{kMemoryOomTables[3]}, headroom{kMemoryOomTables[4]};
};

struct MemoryOomDevice {
  const SnapshotView& view;
  const SnapshotWork& snapshot;
  const HistoryWork& work;
  const Options& options;
};

void add_alive(const MemoryOomDevice& of, std::size_t number, const Failure& failure,
               MemoryOomTables& tables) {
  Bytes all = 0;
  for (const Bytes bytes : failure.by_category) all += bytes;
  const auto top = static_cast<std::size_t>(of.options.count("top"));
  // One place more costs no more lines than "the others" would.
  const std::size_t shown =
      top == 0 || failure.alive.size() <= top + 1 ? failure.alive.size() : top;
  const auto add = [&](base::Cell where, base::Cell category, Bytes bytes, std::uint64_t count) {
    tables.alive.add({of.view.rank, of.view.label, of.work.history->device, number, where, category,
                      bytes, static_cast<double>(bytes) / static_cast<double>(all), count});
  };
  std::vector<memory::StackId> stacks;
  stacks.reserve(shown);
  for (std::size_t i = 0; i < shown; ++i) {
    stacks.push_back(of.work.allocations.list[failure.alive[i].first].stack);
  }
  const std::vector<std::string> texts = of.snapshot.texts.told_apart(stacks);
  Bytes rest = all;
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < failure.alive.size(); ++i) {
    const AliveGroup& group = failure.alive[i];
    if (i >= shown) {
      count += group.count;
      continue;
    }
    rest -= group.bytes;
    add(texts[i].empty() ? "(no stack)" : texts[i], name_of(group.category), group.bytes,
        group.count);
  }
  if (shown < failure.alive.size()) add(Null{}, Null{}, rest, count);
}

std::string why_not(const SegmentFree& segment, const Failure& failure,
                    const memory::History& history, const allocator::Rules& rules) {
  if (segment.pool != 0) return "of a CUDA graph's pool";
  if (segment.stream != history.stream[failure.event]) return "of another stream";
  if (segment.is_small != rules.is_small(failure.asked)) {
    return segment.is_small ? "for small requests only" : "for large requests only";
  }
  if (segment.largest_free >= failure.asked) return "too large to be cut";
  return segment.free >= failure.asked ? "in pieces" : "too small";
}

void add_failure(const MemoryOomDevice& of, std::size_t number, const Failure& failure,
                 MemoryOomTables& tables) {
  const HistoryWork& work = of.work;
  const ReplayOom& state = *failure.state;
  const memory::StackId stack = work.history->stack[failure.event];
  tables.failures.add({of.view.rank, of.view.label, work.history->device, number,
                       of.snapshot.texts.representative(stack), failure.asked, failure.short_by,
                       failure.is_own_limit ? "own limit" : "device full", failure.driver_free,
                       failure.limit ? base::Cell(failure.limit->at_least) : base::Cell(Null{}),
                       failure.limit ? base::Cell(failure.limit->at_most) : base::Cell(Null{}),
                       state.at.reserved, state.at.active, state.at.unused(), failure.is_in_pieces,
                       state.largest_usable, state.elsewhere, work.at_ns(failure.event),
                       of.snapshot.texts.folded(stack)});
  add_alive(of, number, failure, tables);
  const auto top = static_cast<std::size_t>(of.options.count("top"));
  const std::size_t shown = top == 0 ? state.segments.size() : std::min(top, state.segments.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const SegmentFree& segment = state.segments[i];
    tables.free.add({of.view.rank, of.view.label, work.history->device, number, segment.free,
                     segment.largest_free, segment.size,
                     why_not(segment, failure, *work.history, work.replay.rules),
                     static_cast<std::int64_t>(segment.address)});
  }
}

void add_memory_oom_device(const RunView& run, const MemoryOomDevice& of, MemoryOomTables& tables,
                           Answer& answer) {
  const HistoryWork& work = of.work;
  const std::optional<DeviceMemory> device = device_memory(run, of.view, work, of.options);
  const Bytes peak = work.replay.peak_reserved.reserved;
  const std::optional<Bytes> own = own_limit(work);
  const bool is_whole = device && device->from != kFromOwnLimit;
  std::optional<Bytes> there = own;
  if (!there && device) there = device->bytes;
  tables.headroom.add({of.view.rank, of.view.label, work.history->device, work.replay.ooms.size(),
                       peak, work.replay.statistics(allocator::Stat::kActiveBytes).peak,
                       is_whole ? base::Cell(device->bytes) : base::Cell(Null{}),
                       own ? base::Cell(*own) : base::Cell(Null{}),
                       there ? base::Cell(*there - peak) : base::Cell(Null{}),
                       device ? base::Cell(device->from) : base::Cell(Null{})});
  if (work.replay.ooms.empty()) {
    answer.remarks.push_back(said_of(of.view, work, "no request failed."));
    return;
  }
  const Forecasts& all = *forecasts(work, std::nullopt, run.threads);
  const auto most = static_cast<std::size_t>(of.options.count("failures"));
  std::size_t number = 0;
  for (std::size_t i = 0; i < work.history->length(); ++i) {
    if (work.history->action[i] != memory::Action::kOom) continue;
    if (most != 0 && number == most) break;
    const Failure failure = examine(work, number, static_cast<std::uint32_t>(i));
    ++number;
    add_failure(of, number, failure, tables);
    for (const Remedy& way :
         remedies(work, of.snapshot.texts, failure, all, of.options.count("batch-size"))) {
      tables.ways.add({of.view.rank, of.view.label, work.history->device, number, way.what,
                       name_of(way.enough), way.saves, way.how});
    }
  }
  if (number < work.replay.ooms.size()) {
    answer.remarks.push_back(said_of(of.view, work,
                                     fmt::format("the first {} of {} failures are explained.",
                                                 number, work.replay.ooms.size())));
  }
}

Answer run_memory_oom(const RunView& view, const Options& options) {
  MemoryOomTables tables;
  Answer answer;
  for (const SnapshotView& snapshot : view.snapshots) {
    const SnapshotWork& work = work_of(snapshot);
    for (const HistoryWork& device : work.devices) {
      if (device.history->length() == 0) continue;
      add_memory_oom_device(view, {snapshot, work, device, options}, tables, answer);
    }
  }
  for (base::Table* table :
       {&tables.failures, &tables.ways, &tables.alive, &tables.free, &tables.headroom}) {
    answer.tables.push_back(std::move(*table));
  }
  return answer;
}

}  // namespace

const Analysis kMemoryOom{
    .name = "memory-oom",
    .title = "Out of memory",
    .question = "Why did it run out of memory, and what would make room?",
    .parameters = kMemoryOomParameters,
    .tables = kMemoryOomTables,
    .run = run_memory_oom,
    .needs = Needs::kSnapshot,
};

}  // namespace stepscope::analysis
