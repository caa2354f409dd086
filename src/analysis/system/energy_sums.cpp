#include "analysis/system/energy_sums.h"

#include <algorithm>

#include "analysis/recording/range_listing.h"
#include "analysis/recording/range_tree.h"
#include "trace/process_record.h"

namespace stepscope::analysis {
namespace {

constexpr double kEnergySumsMicro = 1e-6;

// Nothing where one of them is not known.
std::optional<double> sum_within(const std::vector<const EnergyCurve*>& curves,
                                 std::span<const Interval> stretches) {
  if (curves.empty()) return std::nullopt;
  double sum = 0;
  for (const EnergyCurve* curve : curves) {
    for (const Interval& stretch : stretches) {
      const auto used = curve->within(stretch);
      if (!used) return std::nullopt;
      sum += *used * kEnergySumsMicro;
    }
  }
  return sum;
}

// Calls of a range. One whose energy is not known did not take 0.
struct Known {
  std::uint64_t calls = 0;
  base::Nanos ns = 0;
  Joules joules = {};

  void add(const Joules& one, base::Nanos length) {
    if (!one.sum()) return;
    ++calls;
    ns += length;
    joules.add(one);
  }
};

void add_to(std::optional<double>& sum, const std::optional<double>& value) {
  if (value) sum = sum.value_or(0) + *value;
}

}  // namespace

std::optional<double> Joules::sum() const {
  if ((has_gpu && !gpu) || (has_host && !host) || (!gpu && !host)) return std::nullopt;
  return gpu.value_or(0) + host.value_or(0);
}

void Joules::add(const Joules& other) {
  add_to(gpu, other.gpu);
  add_to(host, other.host);
  has_gpu |= other.has_gpu;
  has_host |= other.has_host;
  is_estimate = is_estimate || other.is_estimate;
}

RankEnergy::RankEnergy(const NodeCurves& node, const std::vector<EnergySource>& sources,
                       std::int32_t rank, std::size_t ranks)
    : part_(1.0 / static_cast<double>(std::max<std::size_t>(ranks, 1))) {
  const std::vector<std::string> gpus = gpus_of_rank(node, rank);
  for (const EnergySource& source : sources) {
    const bool is_gpu = source.kind == "GPU";
    if (is_gpu && std::ranges::find(gpus, source.device) == gpus.end()) continue;
    (is_gpu ? gpus_ : host_).push_back(&source.curve);
    update_ = std::max(update_, source.curve.update());
  }
}

Joules RankEnergy::within(std::span<const Interval> stretches) const {
  Joules joules{.gpu = sum_within(gpus_, stretches),
                .host = sum_within(host_, stretches),
                .has_gpu = !gpus_.empty(),
                .has_host = !host_.empty(),
                .is_estimate = total(stretches) < update_};
  if (joules.host) *joules.host *= part_;
  return joules;
}

std::vector<PhaseEnergy> phases_of(const RunView& view, std::int32_t rank, const RankEnergy& energy,
                                   std::size_t top) {
  const base::Nanos zero = recording_start(view);
  std::vector<PhaseEnergy> phases;
  for (const WindowView& recording : view.recordings) {
    const trace::Trace& trace = *recording.trace;
    if (recording.rank != rank || trace.header().process_record->is_worker) continue;
    const base::Nanos shift = trace.clock().zero_unix_ns() - zero;
    std::vector<Known> by_node;
    const RangeTree tree = range_tree(recording, [&](std::uint32_t node, trace::Row row) {
      if (node >= by_node.size()) by_node.resize(node + 1);
      const Interval range{trace.start()[row] + shift, trace.end(row) + shift};
      by_node[node].add(energy.within(std::span(&range, 1)), range.length());
    });
    by_node.resize(tree.nodes().size());
    for (const ListedRange& listed : list_ranges(tree, {.top = top}).rows) {
      if (tree.site_of(listed.node) != RangeSite::kMainThread) continue;
      const RangeNode& node = tree.nodes()[listed.node];
      phases.push_back({.rank = rank,
                        .path = listed.path,
                        .name = node.name,
                        .depth = node.depth - 1,
                        .calls = node.calls,
                        .total = node.total,
                        .measured = by_node[listed.node].calls,
                        .measured_ns = by_node[listed.node].ns,
                        .joules = by_node[listed.node].joules});
    }
  }
  return phases;
}

}  // namespace stepscope::analysis
