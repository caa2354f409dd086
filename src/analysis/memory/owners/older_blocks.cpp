#include "analysis/memory/owners/older_blocks.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string_view>

#include "analysis/memory/owners/representative_frame.h"
#include "analysis/memory/owners/workspace_sizes.h"

namespace stepscope::analysis {
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

// Gradients by size: the most that one backward pass made and left behind for a while.
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
  Bytes told = 0;
  for (const auto& [size, count] : gradients) {
    all += size * count;
    const auto found = blocks.find(size);
    if (found == blocks.end()) continue;
    const std::uint32_t needed = count * per_parameter;
    if (found->second < needed) return false;
    if (is_told(size, found->second, needed)) told += size * count;
    sure = sure || found->second == needed;
  }
  return sure && (all - told) * 20 <= all;
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
