// Finds what each allocation holds: parameters, gradients, activations and so on.
#include "analysis/memory/owners/categories.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "analysis/memory/owners/passes.h"
#include "analysis/memory/owners/representative_frame.h"

namespace stepscope::analysis {
namespace {

struct CategoriesVerdict {
  Category category = Category::kUnknown;
  Reason reason = Reason::kNothingTells;
};

class Judge {
 public:
  Judge(const Allocations& allocations, const Passes& passes, std::span<const StackSign> signs,
        const OlderBlocks& older)
      : allocations_(allocations),
        passes_(passes),
        signs_(signs),
        older_(older),
        kept_(signs.size() + 1),
        freed_(signs.size() + 1),
        kept_steps_(signs.size() + 1) {
    for (const Allocation& life : allocations.list) {
      ++(life.used_until() == kNoEvent ? kept_ : freed_)[stack_of(life)];
      if (sign_of(life).place == Place::kSetup && !life.is_older() &&
          judge_setup(life, sign_of(life)).category == Category::kParameters) {
        parameter_sizes_.push_back(life.requested);
      }
    }
    parameter_sizes_.insert(parameter_sizes_.end(), older.sizes.begin(), older.sizes.end());
    std::ranges::sort(parameter_sizes_);
    count_kept_steps();
    weigh_gradients();
  }

  CategoriesVerdict judge(AllocationId id) const {
    const Allocation& life = allocations_.list[id];
    const StackSign& sign = sign_of(life);
    if (life.is_older()) return judge_older(life, sign, older_.kind[id]);
    // Without stacks of events nothing is known of passes; the block may remember who made it.
    if (!passes_.has_stacks) {
      const CategoriesVerdict block = judge_older(life, sign, OlderKind::kUnknown);
      return block.category == Category::kUnknown
                 ? CategoriesVerdict{Category::kUnknown, Reason::kNoStacks}
                 : block;
    }
    if (sign.is_workspace) return {Category::kTemporaries, Reason::kWorkspace};
    switch (sign.place) {
      case Place::kSetup:
        return judge_setup(life, sign);
      case Place::kForward:
      case Place::kRecompute:
        return judge_forward(life);
      case Place::kNoStack:
      case Place::kBackward:
        return judge_backward(life);
      case Place::kOptimizer:
        return judge_optimizer(life, sign);
      case Place::kInput:
        return judge_input(life);
      case Place::kCommunication:
        if (sign.reduces && outlives_backward(life)) {
          return {Category::kGradients, Reason::kOutlivedBackward};
        }
        return {Category::kCommunication, Reason::kCollective};
      case Place::kProgram:
        return judge_program(life);
    }
    return {};
  }

 private:
  // Allocations are in the order of their allocation: a step is over when the next backward is
  // another.
  void count_kept_steps() {
    std::vector<std::uint32_t> last(kept_steps_.size(), kNoEvent);
    for (const Allocation& life : allocations_.list) {
      if (life.is_older() || !passes_.has_stacks || !is_kept_long(life)) continue;
      const std::size_t stack = stack_of(life);
      const std::uint32_t step = passes_.next_backward[life.alloc];
      if (std::exchange(last[stack], step) != step) ++kept_steps_[stack];
    }
  }
  std::size_t stack_of(const Allocation& life) const {
    return std::min<std::size_t>(life.stack, signs_.size());
  }
  const StackSign& sign_of(const Allocation& life) const {
    static constexpr StackSign kNone;
    return life.stack < signs_.size() ? signs_[life.stack] : kNone;
  }
  static bool ends_before(const Allocation& life, std::uint32_t event) {
    return life.used_until() != kNoEvent && life.used_until() < event;
  }

  // Only what the block remembers is known of them, and how many there are of each size.
  CategoriesVerdict judge_older(const Allocation& life, const StackSign& sign,
                                OlderKind counted) const {
    const Reason how =
        older_.per_parameter == 1 ? Reason::kOfGradientsSize : Reason::kOneOfEqualSize;
    if (counted == OlderKind::kParameter) return {Category::kParameters, how};
    if (counted == OlderKind::kState) return {Category::kOptimizerState, how};
    if (sign.place == Place::kSetup) return {Category::kParameters, Reason::kMadeWithModule};
    if (sign.makes_state) return {Category::kOptimizerState, Reason::kMadeByOptimizer};
    if (sign.place == Place::kOptimizer && life.is_alive_at_end()) {
      return {Category::kOptimizerState, Reason::kOutlivedOptimizer};
    }
    if (sign.is_workspace) return {Category::kTemporaries, Reason::kWorkspace};
    return {Category::kUnknown, Reason::kOlder};
  }

  CategoriesVerdict judge_setup(const Allocation& life, const StackSign& sign) const {
    const std::uint32_t forward =
        passes_.next_forward.empty() ? kNoEvent : passes_.next_forward[life.alloc];
    const bool stays = life.used_until() == kNoEvent || !ends_before(life, forward);
    if (stays || sign.moves_module) return {Category::kParameters, Reason::kMadeWithModule};
    return {Category::kTemporaries, Reason::kFreedSoon};
  }

  CategoriesVerdict judge_forward(const Allocation& life) const {
    const std::uint32_t backward = passes_.next_backward[life.alloc];
    // What a failure found in use would have been there for the backward pass that never came.
    if ((backward == kNoEvent || ends_before(life, backward)) && spans_failure(life))
      return {Category::kActivations, Reason::kForwardUnfinished};
    if (backward == kNoEvent) {
      if (life.used_until() == kNoEvent)
        return {Category::kActivations, Reason::kForwardUnfinished};
      return {Category::kTemporaries, Reason::kFreedSoon};
    }
    if (ends_before(life, backward)) return {Category::kTemporaries, Reason::kFreedBeforeBackward};
    if (stays_alone(life)) return judge_kept(life);
    return {Category::kActivations, Reason::kUsedByBackward};
  }

  bool spans_failure(const Allocation& life) const {
    const auto next = std::ranges::lower_bound(passes_.ooms, life.alloc);
    return next != passes_.ooms.end() && *next < life.used_until();
  }

  // Kept from an early step on, though the same call keeps nothing in other steps. What is kept
  // in several steps is a leak and stays what it is.
  bool stays_alone(const Allocation& life) const {
    return is_kept_long(life) && kept_steps_[stack_of(life)] < 2;
  }
  bool is_kept_long(const Allocation& life) const {
    return life.used_until() == kNoEvent && passes_.backwards_after(life.alloc) >= 2;
  }
  static CategoriesVerdict judge_kept(const Allocation& life) {
    if (is_workspace_size(life.requested)) return {Category::kTemporaries, Reason::kWorkspace};
    return {};
  }

  bool outlives_backward(const Allocation& life) const {
    const std::uint32_t pass = passes_.pass_of(life.alloc, PassKind::kBackward);
    const std::uint32_t end = pass == kNoEvent ? life.alloc : passes_.list[pass].end;
    return !ends_before(life, end);
  }

  CategoriesVerdict judge_backward(const Allocation& life) const {
    if (outlives_backward(life)) {
      if (!fits_a_parameter(life)) return judge_kept_by_backward(life);
      return {Category::kGradients, Reason::kOutlivedBackward};
    }
    const std::uint32_t next = passes_.next_backward[life.alloc + 1];
    if (ends_before(life, next)) return {Category::kTemporaries, Reason::kFreedAtOnce};
    return {Category::kAutogradDetail, Reason::kFreedInBackward};
  }

  CategoriesVerdict judge_kept_by_backward(const Allocation& life) const {
    if (is_workspace_size(life.requested) && life.used_until() == kNoEvent) {
      return {Category::kTemporaries, Reason::kWorkspace};
    }
    if (is_kept_long(life)) return {};
    return {Category::kAutogradDetail, Reason::kNoParametersSize};
  }

  // Gradients have the sizes of parameters. Where most of what outlives backward passes has one,
  // the rest is something else.
  bool fits_a_parameter(const Allocation& life) const {
    return !sizes_tell_ || std::ranges::binary_search(parameter_sizes_, life.requested);
  }
  void weigh_gradients() {
    std::uint64_t fit = 0;
    std::uint64_t all = 0;
    for (const Allocation& life : allocations_.list) {
      const Place place = sign_of(life).place;
      if (life.is_older() || sign_of(life).is_workspace || !passes_.has_stacks) continue;
      if (place != Place::kNoStack && place != Place::kBackward) continue;
      if (!outlives_backward(life)) continue;
      ++all;
      fit += std::ranges::binary_search(parameter_sizes_, life.requested) ? 1 : 0;
    }
    sizes_tell_ = fit > 0 && fit * 2 >= all;
  }

  CategoriesVerdict judge_optimizer(const Allocation& life, const StackSign& sign) const {
    const std::uint32_t pass = passes_.pass_of(life.alloc, PassKind::kOptimizer);
    const std::uint32_t end = pass == kNoEvent ? life.alloc + 1 : passes_.list[pass].end;
    if (ends_before(life, end)) return {Category::kTemporaries, Reason::kFreedByOptimizer};
    if (sign.makes_state) return {Category::kOptimizerState, Reason::kMadeByOptimizer};
    const bool usual = freed_[stack_of(life)] > kept_[stack_of(life)];
    if (usual) return {Category::kTemporaries, Reason::kFreedByOptimizer};
    if (life.used_until() == kNoEvent || passes_.next_forward[life.alloc] == kNoEvent ||
        !ends_before(life, passes_.next_forward[life.alloc])) {
      return {Category::kOptimizerState, Reason::kOutlivedOptimizer};
    }
    return {Category::kTemporaries, Reason::kFreedByOptimizer};
  }

  CategoriesVerdict judge_input(const Allocation& life) const {
    if (ends_before(life, passes_.next_forward[life.alloc])) {
      return {Category::kTemporaries, Reason::kFreedSoon};
    }
    return {Category::kInputs, Reason::kBatch};
  }

  // Code of the program's own: what it is follows from what comes next and whether it lasts until
  // then.
  CategoriesVerdict judge_program(const Allocation& life) const {
    const std::uint32_t forward = passes_.next_forward[life.alloc];
    const std::uint32_t backward = passes_.next_backward[life.alloc];
    if (in_forward(life) && backward != kNoEvent) return judge_forward(life);
    const std::uint32_t next = std::min(forward, backward);
    if (next == kNoEvent) {
      if (life.used_until() != kNoEvent) return {Category::kTemporaries, Reason::kFreedSoon};
      return {};
    }
    if (ends_before(life, next)) return {Category::kTemporaries, Reason::kFreedSoon};
    if (backward < forward) return {};  // between two backward passes
    if (stays_alone(life)) return {};
    return {Category::kInputs, Reason::kUsedByForward};
  }
  // The pass before this event is a forward that no backward has followed yet.
  bool in_forward(const Allocation& life) const {
    const auto after = std::ranges::upper_bound(passes_.list, life.alloc, {}, &Pass::begin);
    return after != passes_.list.begin() && std::prev(after)->kind == PassKind::kForward;
  }

  const Allocations& allocations_;
  const Passes& passes_;
  std::span<const StackSign> signs_;
  const OlderBlocks& older_;
  std::vector<std::uint32_t> kept_, freed_;  // allocations by stack
  std::vector<std::uint32_t> kept_steps_;    // by stack: in how many steps something was kept
  std::vector<base::Bytes> parameter_sizes_;
  bool sizes_tell_ = false;
};

Category category_of(memory::Content content) {
  switch (content) {
    case memory::Content::kParameters:
      return Category::kParameters;
    case memory::Content::kGradients:
      return Category::kGradients;
    case memory::Content::kOptimizerState:
      return Category::kOptimizerState;
  }
  return Category::kUnknown;
}

// What was written down holds for what is alive at the end. A block may hold several tensors: the
// kind with the most bytes in it decides, of equal ones the first in Content.
void take_what_is_known(const memory::Snapshot& snapshot, const Allocations& allocations,
                        Categories& out) {
  if (snapshot.known.empty()) return;
  for (AllocationId id = 0; id < allocations.list.size(); ++id) {
    const Allocation& life = allocations.list[id];
    if (!life.is_alive_at_end()) continue;
    const std::uint64_t end =
        life.address + static_cast<std::uint64_t>(std::max<base::Bytes>(life.requested, 1));
    auto at =
        std::ranges::lower_bound(snapshot.known, life.address, {}, &memory::KnownContent::address);
    std::array<base::Bytes, 3> bytes = {};
    bool any = false;
    for (; at != snapshot.known.end() && at->address < end; ++at) {
      bytes[static_cast<std::size_t>(at->content)] += std::max<base::Bytes>(at->bytes, 1);
      any = true;
    }
    if (!any) continue;
    const auto most = std::ranges::max_element(bytes) - bytes.begin();
    out.category[id] = category_of(static_cast<memory::Content>(most));
    out.reason[id] = Reason::kWrittenDown;
  }
}

}  // namespace

std::string_view name_of(Category category) {
  static constexpr std::array<std::string_view, kCategories> kNames = {
      "parameters",  "optimizer state", "gradients",     "activations", "inputs",
      "temporaries", "autograd detail", "communication", "unknown"};
  return kNames[static_cast<std::size_t>(category)];
}

std::string_view text_of(Reason reason) {
  static constexpr std::array<std::string_view, static_cast<std::size_t>(Reason::kCount)> kTexts = {
      "made while a module was made, loaded or moved",
      "made where the optimizer makes its state",
      "made in the optimizer's step and outlived it",
      "made in the optimizer's step and freed in it",
      "made in the backward pass and outlived it",
      "made in the backward pass and freed in it",
      "made in the backward pass and freed before anything else was asked for",
      "outlived the backward pass, but no parameter has its size",
      "made in the forward pass and kept for the backward pass",
      "made in the forward pass and freed before the backward pass",
      "made in a forward pass that no backward pass follows",
      "made where batches are loaded or moved",
      "made before the forward pass and used by it",
      "scratch memory that a library keeps",
      "made for a collective",
      "freed before the next pass",
      "older than the recorded history",
      "older than the history; as many blocks of its size as gradients",
      "older than the history; the blocks of its size are as many as parameters and optimizer "
      "state "
      "need, which of them is which is not known",
      "no stacks were recorded",
      "nothing tells",
      "the process wrote down what lies at its address",
  };
  return kTexts[static_cast<std::size_t>(reason)];
}

Categories categorise(const memory::Snapshot& snapshot, const memory::History& history,
                      const Allocations& allocations) {
  const std::vector<StackSign> signs = stack_signs(snapshot);
  Categories out;
  out.passes = find_passes(snapshot, history, signs);
  const OlderBlocks older = count_older(snapshot, allocations, out.passes, signs);
  const Judge judge(allocations, out.passes, signs, older);
  out.category.reserve(allocations.list.size());
  out.reason.reserve(allocations.list.size());
  for (AllocationId id = 0; id < allocations.list.size(); ++id) {
    const CategoriesVerdict verdict = judge.judge(id);
    out.category.push_back(verdict.category);
    out.reason.push_back(verdict.reason);
  }
  take_what_is_known(snapshot, allocations, out);
  return out;
}

namespace {

using base::Bytes;

// How many tensors of a parameter's size an optimizer of torch keeps.
struct Keeps {
  std::string_view file, name;
  std::uint32_t least, most;
};
constexpr std::array kOptimizers = {
    Keeps{"adam.py", "Adam", 2, 3},         Keeps{"adamw.py", "AdamW", 2, 3},
    Keeps{"nadam.py", "NAdam", 2, 2},       Keeps{"radam.py", "RAdam", 2, 2},
    Keeps{"adamax.py", "Adamax", 2, 2},     Keeps{"adagrad.py", "Adagrad", 1, 1},
    Keeps{"adadelta.py", "Adadelta", 2, 2}, Keeps{"rmsprop.py", "RMSprop", 1, 3},
    Keeps{"sgd.py", "SGD", 0, 1},           Keeps{"rprop.py", "Rprop", 2, 2},
};

struct OlderBlocksRange {
  std::uint32_t least = 0, most = 0;
};

void add_older_blocks(std::optional<OlderBlocksRange>& range, const Keeps& optimizer) {
  if (!range) range = OlderBlocksRange{optimizer.least, optimizer.most};
  range->least = std::min(range->least, optimizer.least);
  range->most = std::max(range->most, optimizer.most);
}

// What the optimizers that stepped may keep; not set where none is known.
std::optional<OlderBlocksRange> kept_by_optimizer(const memory::Snapshot& snapshot) {
  std::optional<OlderBlocksRange> range;
  for (const memory::Frame& frame : snapshot.stacks.frames()) {
    const std::string_view file = snapshot.text(frame.file);
    if (file.find("/torch/optim/") == std::string_view::npos) continue;
    const auto* found = std::ranges::find(kOptimizers, base_name(file), &Keeps::file);
    if (found != kOptimizers.end()) add_older_blocks(range, *found);
  }
  constexpr std::string_view kStep = "Optimizer.step#";
  for (const memory::Annotation& annotation : snapshot.annotations) {
    std::string_view name = snapshot.text(annotation.name);
    if (!name.starts_with(kStep)) continue;
    name = name.substr(kStep.size());
    name = name.substr(0, name.find('.'));
    const auto* found = std::ranges::find(kOptimizers, name, &Keeps::name);
    if (found == kOptimizers.end()) return std::nullopt;  // another one, that keeps what it likes
    add_older_blocks(range, *found);
  }
  return range;
}

// Gradients by size: the most that one backward pass made and left for a while.
std::map<Bytes, std::uint32_t> gradients_of(const Allocations& allocations, const Passes& passes,
                                            std::span<const StackSign> signs) {
  std::uint32_t last_backward = kNoEvent;
  for (std::uint32_t p = 0; p < passes.list.size(); ++p) {
    if (passes.list[p].kind == PassKind::kBackward) last_backward = p;
  }
  std::map<std::uint32_t, std::map<Bytes, std::uint32_t>> by_pass;
  for (const Allocation& life : allocations.list) {
    if (life.is_older()) continue;
    const Place place = life.stack < signs.size() ? signs[life.stack].place : Place::kNoStack;
    if (place != Place::kNoStack && place != Place::kBackward) continue;
    const std::uint32_t pass = passes.pass_of(life.alloc, PassKind::kBackward);
    if (pass == kNoEvent) continue;
    if (life.used_until() != kNoEvent && life.used_until() < passes.list[pass].end) continue;
    // What stays for good is no gradient, unless no pass came to let it go.
    if (life.used_until() == kNoEvent && pass != last_backward) continue;
    ++by_pass[pass][life.requested];
  }
  std::map<Bytes, std::uint32_t> most;
  for (const auto& [pass, counts] : by_pass) {
    for (const auto& [size, count] : counts) most[size] = std::max(most[size], count);
  }
  return most;
}

bool may_be_counted(const Allocation& life) {
  return life.is_older() && life.stack == memory::kNoStack && !life.let_go_before &&
         life.used_until() == kNoEvent;
}

// Whether blocks of a size are just what its parameters need. Libraries keep scratch memory of a
// few sizes, which parameters may have too: there more blocks do not matter.
bool is_told(Bytes size, std::uint32_t blocks, std::uint32_t needed) {
  return blocks == needed || (blocks > needed && is_workspace_size(size));
}

// Whether blocks and gradients fit each other with so many blocks per parameter: never too few
// blocks, and just as many as needed for nearly all bytes. Buffers of modules may have the size of
// a parameter; of such sizes nothing is said.
bool fits_older_blocks(const std::map<Bytes, std::uint32_t>& blocks,
                       const std::map<Bytes, std::uint32_t>& gradients,
                       std::uint32_t per_parameter) {
  bool sure = false;
  Bytes all = 0;
  Bytes known = 0;
  for (const auto& [size, count] : gradients) {
    all += size * count;
    const auto found = blocks.find(size);
    if (found == blocks.end()) continue;
    const std::uint32_t needed = count * per_parameter;
    if (found->second < needed) return false;
    if (is_told(size, found->second, needed)) known += size * count;
    sure = sure || found->second == needed;
  }
  return sure && (all - known) * 20 <= all;
}

}  // namespace

OlderBlocks count_older(const memory::Snapshot& snapshot, const Allocations& allocations,
                        const Passes& passes, std::span<const StackSign> signs) {
  OlderBlocks out;
  out.kind.assign(allocations.older, OlderKind::kUnknown);
  if (!passes.has_stacks) return out;
  std::map<Bytes, std::uint32_t> blocks;
  for (std::size_t id = 0; id < allocations.older; ++id) {
    if (may_be_counted(allocations.list[id])) ++blocks[allocations.list[id].requested];
  }
  if (blocks.empty()) return out;
  const std::optional<OlderBlocksRange> kept = kept_by_optimizer(snapshot);
  if (!kept) return out;
  const std::map<Bytes, std::uint32_t> gradients = gradients_of(allocations, passes, signs);
  std::uint32_t ways = 0;
  for (std::uint32_t states = kept->least; states <= kept->most; ++states) {
    if (!fits_older_blocks(blocks, gradients, states + 1)) continue;
    out.per_parameter = states + 1;
    ++ways;
  }
  if (ways != 1) {
    out.per_parameter = 0;
    return out;
  }
  std::map<Bytes, std::uint32_t> seen;
  for (std::size_t id = 0; id < allocations.older; ++id) {
    const Allocation& life = allocations.list[id];
    const auto found = gradients.find(life.requested);
    if (found == gradients.end() || !may_be_counted(life)) continue;
    const std::uint32_t needed = found->second * out.per_parameter;
    if (!is_told(life.requested, blocks.at(life.requested), needed)) continue;
    const std::uint32_t place = seen[life.requested]++;
    if (place < found->second) {
      out.kind[id] = OlderKind::kParameter;
    } else if (place < needed) {
      out.kind[id] = OlderKind::kState;
    }
  }
  for (const auto& [size, count] : seen) out.sizes.push_back(size);
  return out;
}

}  // namespace stepscope::analysis
