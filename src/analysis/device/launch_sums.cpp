#include <algorithm>
#include <unordered_map>
#include <utility>

#include "analysis/arithmetic/sorted_runs.h"
#include "analysis/device/launches.h"

namespace stepscope::analysis {
namespace {

using base::Nanos;

bool is_kernel(const Work& piece) {
  return piece.work_class == WorkClass::kCompute || piece.work_class == WorkClass::kCommunication;
}

void add_piece(LaunchSums& sums, const Work& piece, Nanos delay, Nanos shorter_than) {
  ++sums.work;
  sums.delay.add(delay);
  if (is_kernel(piece) && piece.length() < shorter_than) {
    ++sums.short_kernels;
    sums.short_ns += piece.length();
  }
}

void add_call(LaunchSums& sums, const Launch& launch) {
  ++sums.calls;
  sums.cost += launch.cost;
  if (launch.outlasts_its_work()) ++sums.outlasting;
  if (launch.is_graph()) {
    ++sums.graphs;
    sums.graph_work += launch.work.size();
  }
}

// Most sums of a run come from one window: these move.
void merge_into(Durations& all, Durations&& more) {
  if (all.count() == 0) {
    all = std::move(more);
  } else {
    all.merge(more);
  }
}

}  // namespace

double LaunchSums::mean_cost() const {
  return calls == 0 ? 0 : static_cast<double>(cost) / static_cast<double>(calls);
}

void LaunchSums::merge(LaunchSums&& other) {
  calls += other.calls;
  work += other.work;
  cost += other.cost;
  merge_into(delay, std::move(other.delay));
  merge_into(costs, std::move(other.costs));
  merge_into(lengths, std::move(other.lengths));
  short_kernels += other.short_kernels;
  short_ns += other.short_ns;
  outlasting += other.outlasting;
  graphs += other.graphs;
  graph_work += other.graph_work;
  without_call += other.without_call;
}

Launches launches_of(const WindowView& window, bool kernels_only) {
  std::vector<std::pair<trace::Row, std::uint32_t>> order;
  order.reserve(window.work.size());
  for (std::uint32_t i = 0; i < window.work.size(); ++i) {
    const Work& piece = window.work[i];
    if (piece.launch == trace::kNoRow || !window.counts(piece)) continue;
    if (kernels_only && !is_kernel(piece)) continue;
    order.emplace_back(piece.launch, i);
  }
  sort_runs(order, [](const auto& a, const auto& b) { return a.first < b.first; });
  Launches out;
  out.work.reserve(order.size());
  for (const auto& [call, index] : order) out.work.push_back(index);
  for (std::size_t first = 0, end = 0; first < order.size(); first = end) {
    const trace::Row call = order[first].first;
    Launch launch{.call = call, .cost = window.trace->duration()[call], .work = {}};
    for (; end < order.size() && order[end].first == call; ++end) {
      launch.work_ns += window.work[order[end].second].length();
    }
    launch.work = std::span(out.work).subspan(first, end - first);
    out.list.push_back(launch);
  }
  return out;
}

Nanos queue_delay(const WindowView& window, const Launch& launch, const Work& piece) {
  return std::max<Nanos>(0, piece.start - window.trace->end(launch.call));
}

LaunchPartial launch_sums(const WindowView& window, const LaunchSettings& settings) {
  LaunchPartial out;
  out.steps.resize(window.steps.size());
  // By number first: a text per event would be compared millions of times.
  std::unordered_map<base::StringId, LaunchSums> calls;
  std::unordered_map<std::uint64_t, LaunchSums> kernels;
  const auto step_of = [&](const Work& piece) {
    return piece.step < 0 ? nullptr : &out.steps[static_cast<std::size_t>(piece.step)];
  };
  const Launches launches = launches_of(window, settings.kernels_only);
  for (const Launch& launch : launches.list) {
    LaunchSums& named = calls[window.trace->name()[launch.call]];
    named.costs.add(launch.cost);
    LaunchSums* const step = step_of(window.work[launch.work.front()]);
    add_call(out.all, launch);
    add_call(named, launch);
    if (step != nullptr) add_call(*step, launch);
    for (const std::uint32_t index : launch.work) {
      const Work& piece = window.work[index];
      const Nanos delay = queue_delay(window, launch, piece);
      LaunchSums& kernel = kernels[std::uint64_t{window.trace->name()[piece.row]} << 8 |
                                   static_cast<std::uint64_t>(piece.work_class)];
      for (LaunchSums* sums : {&out.all, &named, step, &kernel}) {
        if (sums != nullptr) add_piece(*sums, piece, delay, settings.shorter_than);
      }
      kernel.lengths.add(piece.length());
      // A graph's call has no cost per kernel; a single kernel's has.
      if (launch.is_graph()) {
        ++kernel.graph_work;
      } else {
        add_call(kernel, launch);
      }
      if (settings.each) {
        out.lines.push_back({index, launch.call, launch.cost, delay, launch.is_graph()});
      }
    }
  }
  for (auto& [name, sums] : calls) out.calls[window.trace->text(name)].merge(std::move(sums));
  for (auto& [id, sums] : kernels) {
    const auto name = static_cast<base::StringId>(id >> 8);
    out.kernels[{window.trace->text(name), static_cast<WorkClass>(id & 0xff)}].merge(
        std::move(sums));
  }
  for (const Work& piece : window.work) {
    if (piece.launch != trace::kNoRow || !window.counts(piece)) continue;
    if (settings.kernels_only && !is_kernel(piece)) continue;
    ++out.all.without_call;
    if (LaunchSums* const step = step_of(piece); step != nullptr) ++step->without_call;
  }
  return out;
}

}  // namespace stepscope::analysis
