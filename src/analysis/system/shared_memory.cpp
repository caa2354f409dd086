// Memory of a rank's processes with what they share counted once (PSS): asked for so seldom that
// its peak may lie in between, which the resident memory tells.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "analysis/system/curve_values.h"
#include "analysis/system/system_tables.h"

namespace stepscope::analysis {
namespace {

using base::Nanos;

std::string size_text(std::int64_t bytes) {
  constexpr double kMiB = 1 << 20;
  const double mib = static_cast<double>(bytes) / kMiB;
  constexpr double kGiB = 1024;
  return mib >= kGiB ? fmt::format("{:.3g} GiB", mib / kGiB) : fmt::format("{:.3g} MiB", mib);
}

// As it was last seen; before that 0.
std::int64_t value_at(const Curve& curve, Nanos time) {
  const auto next = std::ranges::upper_bound(curve.times, time);
  if (next == curve.times.begin()) return 0;
  return curve.values[static_cast<std::size_t>(next - curve.times.begin()) - 1];
}

std::int64_t resident_at(const std::vector<const Curve*>& curves, Nanos time) {
  std::int64_t sum = 0;
  for (const Curve* one : curves) sum += value_at(*one, time);
  return sum;
}

struct Held {
  std::int64_t shared = 0;  // the most, where it was looked at
  std::size_t looks = 0;
  std::int64_t resident = 0, seen = 0;  // the most at all, and at those moments

  // Memory that came and went between two looks.
  bool is_missed() const {
    constexpr double kMore = 1.25;
    return static_cast<double>(resident) > kMore * static_cast<double>(seen);
  }
};

Held held_by(const NodeCurves& node, const Curve& pss) {
  Held out{.looks = pss.times.size()};
  std::vector<const Curve*> resident = node.named("process.rss");
  std::erase_if(resident,
                [&](const Curve* one) { return one->field("process") != pss.field("process"); });
  for (const Curve* one : resident) {
    for (const Nanos time : one->times) {
      out.resident = std::max(out.resident, resident_at(resident, time));
    }
  }
  out.shared = largest_of(&pss).value_or(0);
  for (const Nanos time : pss.times) out.seen = std::max(out.seen, resident_at(resident, time));
  return out;
}

}  // namespace

std::string about_shared_memory(const std::vector<NodeCurves>& nodes) {
  std::optional<Held> most;
  for (const NodeCurves& node : nodes) {
    for (const Curve* pss : node.named("process.pss")) {
      if (pss->field("of") != "all" || pss->times.empty()) continue;
      const Held one = held_by(node, *pss);
      if (!most || one.resident > most->resident) most = one;
    }
  }
  if (!most || most->shared == 0) return {};
  const std::string times =
      most->looks == 1 ? std::string("once") : fmt::format("{} times", most->looks);
  if (most->is_missed()) {
    return fmt::format(
        "Memory with what processes share counted once (PSS) was looked at {}, and not while they "
        "held most: its {} are of other moments than the {} of RSS.",
        times, size_text(most->shared), size_text(most->resident));
  }
  return fmt::format(
      "The training process and what it started hold {} together, with what they share counted "
      "once (PSS, looked at {}).",
      size_text(most->shared), times);
}

}  // namespace stepscope::analysis
