#include "analysis/recording/range_listing.h"

#include <algorithm>
#include <utility>

namespace stepscope::analysis {
namespace {

constexpr std::string_view kInside = " > ";

// Time of each node, at least that of the nodes inside it: a range that began before the chosen
// steps, or that a child outlived, must not hide them.
std::vector<base::Nanos> weights_of(const RangeTree& tree) {
  const std::vector<RangeNode>& nodes = tree.nodes();
  std::vector<base::Nanos> weights(nodes.size());
  std::vector<base::Nanos> inside(nodes.size());
  for (std::size_t i = nodes.size(); i-- > 0;) {
    weights[i] = std::max(nodes[i].total, inside[i]);
    if (i >= kRangeSites) inside[nodes[i].parent] = std::max(inside[nodes[i].parent], weights[i]);
  }
  return weights;
}

std::vector<bool> entered_of(const RangeTree& tree) {
  const std::vector<RangeNode>& nodes = tree.nodes();
  std::vector<bool> entered(nodes.size());
  for (std::size_t i = nodes.size(); i-- > 0;) {
    if (nodes[i].calls > 0) entered[i] = true;
    if (entered[i]) entered[nodes[i].parent] = true;
  }
  return entered;
}

}  // namespace

RangeListing list_ranges(const RangeTree& tree, const RangeLimits& limits) {
  const std::vector<RangeNode>& nodes = tree.nodes();
  const std::vector<base::Nanos> weights = weights_of(tree);
  const std::vector<bool> entered = entered_of(tree);
  // A parent weighs no less than a child and has a lower depth: whoever is among the first has its
  // parents among them.
  const auto before = [&](std::uint32_t a, std::uint32_t b) {
    if (weights[a] != weights[b]) return weights[a] > weights[b];
    if (nodes[a].depth != nodes[b].depth) return nodes[a].depth < nodes[b].depth;
    return nodes[a].name < nodes[b].name;
  };
  std::vector<std::uint32_t> order;
  std::size_t all = 0;
  for (std::uint32_t i = kRangeSites; i < nodes.size(); ++i) {
    if (!entered[i]) continue;
    ++all;
    if (limits.depth == 0 || nodes[i].depth <= limits.depth) order.push_back(i);
  }
  std::ranges::stable_sort(order, before);
  if (limits.top > 0 && order.size() > limits.top) order.resize(limits.top);

  std::vector<std::vector<std::uint32_t>> inside(nodes.size());
  for (const std::uint32_t node : order) inside[nodes[node].parent].push_back(node);
  RangeListing listing{.rows = {}, .left_out = all - order.size()};
  std::vector<ListedRange> open;
  for (std::uint32_t site = kRangeSites; site-- > 0;) open.push_back({site, ""});
  while (!open.empty()) {
    const ListedRange here = std::move(open.back());
    open.pop_back();
    const std::vector<std::uint32_t>& children = inside[here.node];
    for (std::size_t i = children.size(); i-- > 0;) {
      const std::string& name = nodes[children[i]].name;
      open.push_back(
          {children[i], here.path.empty() ? name : here.path + std::string(kInside) + name});
    }
    if (here.node >= kRangeSites) listing.rows.push_back(here);
  }
  return listing;
}

std::vector<RangeOverRanks> over_ranks(RangeTree& all,
                                       const std::map<std::int32_t, RangeTree>& ranks) {
  std::vector<RangeOverRanks> over(all.nodes().size());
  for (const auto& [rank, tree] : ranks) {
    std::vector<std::uint32_t> there(tree.nodes().size());
    for (std::uint32_t i = 0; i < tree.nodes().size(); ++i) {
      const RangeNode& node = tree.nodes()[i];
      there[i] = i < kRangeSites ? i : all.child(there[node.parent], node.name);
      if (node.calls == 0) continue;
      RangeOverRanks& sums = over[there[i]];
      if (sums.ranks == 0 || node.total > sums.most) sums.slowest = rank;
      sums.least = sums.ranks == 0 ? node.total : std::min(sums.least, node.total);
      sums.most = std::max(sums.most, node.total);
      ++sums.ranks;
    }
  }
  return over;
}

}  // namespace stepscope::analysis
