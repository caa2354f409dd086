#include "analysis/memory/owners/passes.h"

#include <algorithm>
#include <optional>

namespace stepscope::analysis {
namespace {

using memory::Action;

std::optional<PassKind> passes_kind_of(Place place) {
  switch (place) {
    case Place::kForward:
      return PassKind::kForward;
    case Place::kNoStack:  // a thread without Python: the backward engine's
    case Place::kBackward:
    case Place::kRecompute:
      return PassKind::kBackward;
    case Place::kOptimizer:
      return PassKind::kOptimizer;
    default:
      return std::nullopt;
  }
}

// First events at or behind the start of a step or of zero_grad, as annotated: what lets go of
// gradients without asking for memory leaves no other sign.
std::vector<std::uint32_t> optimizer_starts(const memory::Snapshot& snapshot,
                                            const memory::History& history) {
  std::vector<std::uint32_t> starts;
  const auto times = history.time.span();
  if (!std::ranges::is_sorted(times)) return starts;
  for (const memory::Annotation& annotation : snapshot.annotations) {
    if (!annotation.is_start || annotation.device != history.device) continue;
    if (!snapshot.text(annotation.name).starts_with("Optimizer.")) continue;
    starts.push_back(static_cast<std::uint32_t>(std::ranges::lower_bound(times, annotation.time) -
                                                times.begin()));
  }
  std::ranges::sort(starts);
  return starts;
}

}  // namespace

std::string_view name_of(PassKind kind) {
  switch (kind) {
    case PassKind::kForward:
      return "forward";
    case PassKind::kBackward:
      return "backward";
    case PassKind::kOptimizer:
      return "optimizer";
  }
  return "";
}

std::uint32_t Passes::pass_of(std::uint32_t event, PassKind kind) const {
  auto found = std::ranges::upper_bound(list, event, {}, &Pass::begin);
  if (found == list.begin()) return kNoEvent;
  --found;
  if (found->kind != kind || event >= found->end) return kNoEvent;
  return static_cast<std::uint32_t>(found - list.begin());
}

std::uint32_t Passes::backwards_after(std::uint32_t event) const {
  const auto first = std::ranges::upper_bound(list, event, {}, &Pass::begin) - list.begin();
  return backwards_before.back() - backwards_before[static_cast<std::size_t>(first)];
}

Passes find_passes(const memory::Snapshot& snapshot, const memory::History& history,
                   std::span<const StackSign> signs) {
  Passes out;
  const auto n = static_cast<std::uint32_t>(history.length());
  out.place.assign(n, Place::kNoStack);
  bool frees_tell = false;
  for (std::uint32_t i = 0; i < n; ++i) {
    if (history.stack[i] < signs.size()) out.place[i] = signs[history.stack[i]].place;
    const bool known = out.place[i] != Place::kNoStack;
    if (history.action[i] == Action::kAlloc) out.has_stacks |= known;
    if (history.action[i] == Action::kFreeRequested) frees_tell |= known;
    if (history.action[i] == Action::kOom) out.ooms.push_back(i);
  }
  if (!out.has_stacks) return out;

  const std::vector<std::uint32_t> starts = optimizer_starts(snapshot, history);
  auto start = starts.begin();
  bool open = false;  // the last pass may still go on
  for (std::uint32_t i = 0; i < n; ++i) {
    bool cut = false;
    for (; start != starts.end() && *start <= i; ++start) cut = true;
    const std::optional<PassKind> kind = passes_kind_of(out.place[i]);
    const bool is_alloc = history.action[i] == Action::kAlloc;
    const bool is_free = history.action[i] == Action::kFreeRequested && frees_tell;
    const bool continues = open && kind && out.list.back().kind == *kind;
    // Other threads without Python free memory too: that alone is no backward pass.
    const bool tells = is_alloc || (is_free && (continues || out.place[i] != Place::kNoStack));
    const bool changes = kind && tells && !continues;
    // Frees that have no stack belong to the pass they follow, up to what is known to be behind it.
    if (!frees_tell && open && (cut || changes)) out.list.back().end = i;
    if (cut) open = open && frees_tell;
    if (!kind || !tells) continue;
    if (open && out.list.back().kind == *kind) {
      out.list.back().end = i + 1;
    } else {
      out.list.push_back({*kind, i, i + 1});
      open = true;
    }
  }
  if (!frees_tell && open) out.list.back().end = n;

  out.next_forward.assign(n + 1, kNoEvent);
  out.next_backward.assign(n + 1, kNoEvent);
  for (std::uint32_t i = n; i-- > 0;) {
    const bool is_alloc = history.action[i] == Action::kAlloc;
    const bool forward = is_alloc && out.place[i] == Place::kForward;
    const bool backward =
        is_alloc && (out.place[i] == Place::kBackward || out.place[i] == Place::kNoStack);
    out.next_forward[i] = forward ? i : out.next_forward[i + 1];
    out.next_backward[i] = backward ? i : out.next_backward[i + 1];
  }
  for (const Pass& pass : out.list) {
    out.backwards_before.push_back(out.backwards_before.back() +
                                   (pass.kind == PassKind::kBackward ? 1 : 0));
  }
  return out;
}

}  // namespace stepscope::analysis
