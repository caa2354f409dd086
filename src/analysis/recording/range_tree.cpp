// Builds the tree of recorded ranges by name and nesting, and adds up their time.
#include "analysis/recording/range_tree.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "trace/process_record.h"
#include "trace/step_names.h"

namespace stepscope::analysis {
namespace {

using base::Nanos;
using base::StringId;
using trace::Row;

constexpr std::uint32_t kNoNode = 0xffffffff;

class RangeTreeSumming {
 public:
  using Each = std::function<void(std::uint32_t node, Row row)>;

  RangeTreeSumming(const WindowView& view, Each each)
      : view_(view), trace_(*view.trace), each_(std::move(each)), node_of_(trace_.size(), kNoNode) {
    const std::size_t names = trace_.strings().size();
    last_.assign(names, {kNoNode, kNoNode});
    is_step_.resize(names);
    std::unordered_map<std::string_view, StringId> ids;
    clocked_.assign(names, base::kNoString);
    for (StringId id = 0; id < names; ++id) {
      is_step_[id] = trace::names_a_step(trace_.text(id)) ? 1 : 0;
      ids.emplace(trace_.text(id), id);
    }
    for (StringId id = 0; id < names; ++id) {
      const std::string_view name = trace_.text(id);
      if (!name.starts_with(kProcessorTime)) continue;
      const auto found = ids.find(name.substr(kProcessorTime.size()));
      if (found != ids.end()) clocked_[id] = found->second;
    }
  }

  RangeTree run() {
    const trace::ProcessRecord& record = *trace_.header().process_record;
    const Nanos length =
        view_.chosen ? view_.measured_ns() : std::max<Nanos>(record.length, trace_.span().length());
    const auto recorded = [&](RangeSite site) -> Nanos& {
      return tree_.recorded[static_cast<std::size_t>(site)];
    };
    recorded(record.is_worker ? RangeSite::kWorkers : RangeSite::kMainThread) = length;
    for (const trace::Track& track : trace_.tracks()) {
      const RangeSite site = site_of_track(track, record);
      alive_.reset();
      for (Row row = track.begin; row < track.end; ++row)
        add(row, static_cast<std::uint32_t>(site));
      if (!alive_) continue;
      // Threads and tasks run side by side: each has time of its own, of which shares are.
      if (site == RangeSite::kThreads) recorded(site) += length;
      if (site == RangeSite::kTasks) recorded(site) += alive_->length();
    }
    return std::move(tree_);
  }

 private:
  bool is_range(Row row) const {
    return trace_.phase()[row] == trace::Phase::kSpan &&
           trace_.kind()[row] == trace::Kind::kAnnotation &&
           trace_.name()[row] != base::kNoString && is_step_[trace_.name()[row]] == 0;
  }
  bool counts(Row row) const {
    return (trace_.flags()[row] & trace::kFarTime) == 0 && view_.counts_at(trace_.start()[row]);
  }

  void add(Row row, std::uint32_t site) {
    const Row parent = trace_.parent()[row];
    const std::uint32_t above = parent == trace::kNoRow ? site : node_of_[parent];
    if (!is_range(row)) {
      node_of_[row] = above;
      if (trace_.phase()[row] == trace::Phase::kCounter) add_processor_time(row);
      return;
    }
    const std::uint32_t here = child(above, trace_.name()[row]);
    node_of_[row] = here;
    if (!counts(row)) return;
    RangeNode& node = tree_.nodes()[here];
    const Nanos length = trace_.duration()[row];
    if (!alive_) alive_ = Interval{trace_.start()[row], trace_.end(row)};
    alive_->end = std::max(alive_->end, trace_.end(row));
    if (each_) each_(here, row);
    ++node.calls;
    node.total += length;
    node.self += length;
    if ((trace_.flags()[row] & trace::kUnclosed) != 0) {
      ++node.open;
    } else if ((trace_.flags()[row] & trace::kBadDuration) == 0) {
      node.ended.add(length);
    }
    if (above < kRangeSites || !counts(parent)) return;
    // A range may end after the one it began in.
    const Nanos inside = std::min(trace_.end(row), trace_.end(parent)) - trace_.start()[row];
    tree_.nodes()[above].self -= std::max<Nanos>(inside, 0);
  }

  // A counter that follows a range and bears its name.
  void add_processor_time(Row row) {
    const StringId name = trace_.name()[row];
    if (name == base::kNoString || clocked_[name] == base::kNoString || !counts(row)) return;
    const std::uint32_t node_of_range = last_[clocked_[name]].node;
    const auto rows = trace_.counters().row.span();
    const auto found = std::ranges::lower_bound(rows, row);
    if (node_of_range == kNoNode || found == rows.end() || *found != row) return;
    RangeNode& node = tree_.nodes()[node_of_range];
    node.cpu +=
        static_cast<Nanos>(trace_.counters().value[static_cast<std::size_t>(found - rows.begin())]);
    ++node.clocked;
  }

  // A range is nearly always called from where its name was called last.
  std::uint32_t child(std::uint32_t above, StringId name) {
    Last& last = last_[name];
    if (last.above != above) last = {above, tree_.child(above, trace_.text(name))};
    return last.node;
  }

  static constexpr std::string_view kProcessorTime = "processor time#";
  struct Last {
    std::uint32_t above, node;
  };
  const WindowView& view_;
  const trace::Trace& trace_;
  const Each each_;
  RangeTree tree_;
  std::optional<Interval> alive_;  // from the first range of a track to the end of its last
  std::vector<std::uint32_t> node_of_;
  std::vector<Last> last_;         // by name
  std::vector<StringId> clocked_;  // by name of a counter: the range that it is about
  std::vector<char> is_step_;      // so too
};

}  // namespace

RangeSite site_of_track(const trace::Track& track, const trace::ProcessRecord& record) {
  if (record.is_worker) return RangeSite::kWorkers;
  if (track.thread.starts_with("task ")) return RangeSite::kTasks;
  return track.tid && track.tid == record.pid ? RangeSite::kMainThread : RangeSite::kThreads;
}

std::string_view name_of(RangeSite site) {
  switch (site) {
    case RangeSite::kMainThread:
      return "main thread";
    case RangeSite::kThreads:
      return "other threads";
    case RangeSite::kTasks:
      return "async tasks";
    case RangeSite::kWorkers:
      return "worker processes";
  }
  return "";
}

RangeTree::RangeTree() {
  for (std::size_t i = 0; i < kRangeSites; ++i) {
    nodes_.push_back({.name = std::string(name_of(static_cast<RangeSite>(i))),
                      .parent = static_cast<std::uint32_t>(i)});
  }
}

RangeSite RangeTree::site_of(std::uint32_t node) const {
  while (node >= kRangeSites) node = nodes_[node].parent;
  return static_cast<RangeSite>(node);
}

std::uint32_t RangeTree::child(std::uint32_t parent, std::string_view name) {
  const auto next = static_cast<std::uint32_t>(nodes_.size());
  const auto [found, is_new] = children_.try_emplace({parent, std::string(name)}, next);
  if (is_new) {
    nodes_.push_back(
        {.name = std::string(name), .parent = parent, .depth = nodes_[parent].depth + 1});
  }
  return found->second;
}

void RangeTree::merge(const RangeTree& other) {
  std::vector<std::uint32_t> here(other.nodes_.size());
  for (std::uint32_t i = 0; i < other.nodes_.size(); ++i) {
    const RangeNode& theirs = other.nodes_[i];
    here[i] = i < kRangeSites ? i : child(here[theirs.parent], theirs.name);
    RangeNode& ours = nodes_[here[i]];
    ours.calls += theirs.calls;
    ours.open += theirs.open;
    ours.total += theirs.total;
    ours.self += theirs.self;
    ours.cpu += theirs.cpu;
    ours.clocked += theirs.clocked;
    ours.ended.merge(theirs.ended);
  }
  for (std::size_t i = 0; i < kRangeSites; ++i) recorded[i] += other.recorded[i];
}

RangeTree range_tree(const WindowView& recording,
                     std::function<void(std::uint32_t node, Row row)> each) {
  return RangeTreeSumming(recording, std::move(each)).run();
}

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
