// How much communication is hidden under computing. Hidden time costs nothing; exposed time is what
// a faster network or a better schedule could save.
#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/device/overlap_names.h"
#include "analysis/key_columns.h"
#include "analysis/registry.h"
#include "analysis/share_of.h"
#include "analysis/steps/within.h"
#include "analysis/view.h"

namespace stepscope::analysis {
namespace {

using base::Nanos;
using base::Type;
using base::Unit;

constexpr std::array kParameters = {kWithin};

constexpr base::ColumnShape kCommunication{"communication_ns", Type::kInt, Unit::kNanos,
                                           "time in which it runs"};
constexpr base::ColumnShape kHidden{"hidden_ns", Type::kInt, Unit::kNanos,
                                    "of it while the device computes"};
constexpr base::ColumnShape kExposed{"exposed_ns", Type::kInt, Unit::kNanos,
                                     "of it while nothing computes"};
constexpr base::ColumnShape kHiddenShare{"hidden_share", Type::kReal, Unit::kShare,
                                         "of the communication time"};
constexpr base::ColumnShape kMeasured{"measured_ns", Type::kInt, Unit::kNanos, "wall time"};
constexpr base::ColumnShape kCompute{"compute_ns", Type::kInt, Unit::kNanos,
                                     "at least one computing kernel runs"};
constexpr base::ColumnShape kExposedShare{"exposed_share", Type::kReal, Unit::kShare,
                                          "exposed communication, of the wall time"};

constexpr std::array kDevices = {key::kRank, key::kDevice,   kMeasured,
                                 kCompute,   kCommunication, kHidden,
                                 kExposed,   kHiddenShare,   kExposedShare};
constexpr std::array kCollectives = {
    key::kRank,
    key::kDevice,
    base::ColumnShape{"collective", Type::kText, Unit::kNone,
                      "as the profiler names it, else the host range or the kernel"},
    base::ColumnShape{"group", Type::kText, Unit::kNone, "process group; null: not recorded"},
    base::ColumnShape{"count", Type::kInt, Unit::kCount, "kernels that begin in that time"},
    kCommunication,
    kHidden,
    kExposed,
    kHiddenShare};
constexpr std::array kSteps = {key::kRank, key::kWindow, key::kStep,     key::kDevice,
                               kMeasured,  kCompute,     kCommunication, kHidden,
                               kExposed,   kHiddenShare, kExposedShare};
constexpr std::array kHost = {
    key::kRank,
    base::ColumnShape{"collective", Type::kText, Unit::kNone, "the host range"},
    base::ColumnShape{"count", Type::kInt, Unit::kCount, "ranges that begin in that time"},
    kCommunication,
    base::ColumnShape{"hidden_ns", Type::kInt, Unit::kNanos, "of it while any device computes"},
    kExposed,
    kHiddenShare};

constexpr std::array<std::string_view, 2> kStacked = {"hidden_ns", "exposed_ns"};
constexpr std::array kTables = std::to_array<base::TableShape>({
    {"devices", "one device of one rank", kDevices, {base::Chart::kStack, "rank", kStacked}},
    {"collectives",
     "one collective of one group on one device, the most exposed first",
     kCollectives,
     {base::Chart::kStack, "collective", kStacked, "rank"}},
    {"steps", "one step on one device", kSteps, {base::Chart::kStack, "step", kStacked, "rank"}},
    {"host",
     "one collective that the CPU carries out (gloo, MPI), all threads of a rank together",
     kHost,
     {base::Chart::kStack, "collective", kStacked, "rank"}},
});

struct Parts {
  Nanos measured = 0, compute = 0, communication = 0, hidden = 0;
  std::uint64_t count = 0;
  Nanos exposed() const { return communication - hidden; }
  void merge(const Parts& other) {
    measured += other.measured;
    compute += other.compute;
    communication += other.communication;
    hidden += other.hidden;
    count += other.count;
  }
};

struct StepParts {
  std::int64_t step;
  std::int32_t device;
  Parts parts;
};

struct Partial {
  std::map<std::int32_t, Parts> devices;
  std::map<std::pair<std::int32_t, CollectiveName>, Parts> collectives;
  std::map<std::string, Parts> host;
  std::vector<StepParts> steps;
};

Parts parts_of(const Intervals& compute, const Intervals& communication, const Intervals& within) {
  const Intervals running = intersect(communication, within);
  return {.measured = total(within),
          .compute = common(compute, within),
          .communication = total(running),
          .hidden = common(running, compute)};
}

bool holds(const Intervals& set, Nanos time) { return covered(set, {time, time + 1}) > 0; }

// Intervals of one name come by start, as the work does.
void add_collectives(Partial& out, const WindowView& window, const DeviceView& device,
                     const Intervals& within) {
  std::map<CollectiveName, std::pair<Union, std::uint64_t>> by_name;
  CollectiveNames names(*window.trace);
  for (const Work& piece : window.work_of(device)) {
    if (piece.work_class != WorkClass::kCommunication) continue;
    auto& [time, count] = by_name[names.of(piece)];
    time.add(piece.start, piece.end);
    if (holds(within, piece.start)) ++count;
  }
  for (const auto& [name, found] : by_name) {
    Parts parts = parts_of(device.compute, found.first.set(), within);
    parts.count = found.second;
    if (parts.count > 0 || parts.communication > 0) {
      out.collectives[{device.device, name}].merge(parts);
    }
  }
}

void add_host(Partial& out, const WindowView& window) {
  Intervals compute;
  for (const DeviceView& device : window.devices) compute = unite(compute, device.compute);
  for (auto& [name, ranges] : host_communication(*window.trace)) {
    Parts parts = parts_of(compute, sorted_union(ranges), window.measured);
    for (const Interval& range : ranges) parts.count += holds(window.measured, range.start) ? 1 : 0;
    if (parts.count > 0 || parts.communication > 0) out.host[name].merge(parts);
  }
}

Partial compute(const WindowView& window, Within within) {
  Partial out;
  for (const DeviceView& device : window.devices) {
    const Intervals time = measured_time(window, device, within);
    out.devices[device.device] = parts_of(device.compute, device.communication, time);
    add_collectives(out, window, device, time);
    if (within == Within::kWork || !window.has_steps) continue;
    for (const StepTime& step : window.steps) {
      if (!step.selected) continue;
      const Intervals compute = clip(device.compute, step.span);
      const Intervals communication = clip(device.communication, step.span);
      out.steps.push_back(
          {step.number, device.device, parts_of(compute, communication, Intervals{step.span})});
    }
  }
  add_host(out, window);
  return out;
}

// The most exposed first; of equals by name.
template <class Key>
std::vector<const std::pair<const Key, Parts>*> by_exposed(const std::map<Key, Parts>& lines) {
  std::vector<const std::pair<const Key, Parts>*> order;
  order.reserve(lines.size());
  for (const auto& line : lines) order.push_back(&line);
  std::ranges::stable_sort(order, std::ranges::greater{},
                           [](const auto* line) { return line->second.exposed(); });
  return order;
}

void add_rank(Answer& answer, std::int32_t rank, const Partial& found) {
  for (const auto& [device, p] : found.devices) {
    answer.tables[0].add({rank, device, p.measured, p.compute, p.communication, p.hidden,
                          p.exposed(), share_of(p.hidden, p.communication),
                          share_of(p.exposed(), p.measured)});
  }
  for (const auto* line : by_exposed(found.collectives)) {
    const auto& [device, name] = line->first;
    const Parts& p = line->second;
    answer.tables[1].add({rank, device, name.collective,
                          name.group ? base::Cell(*name.group) : base::Cell(base::Null{}), p.count,
                          p.communication, p.hidden, p.exposed(),
                          share_of(p.hidden, p.communication)});
  }
  for (const auto* line : by_exposed(found.host)) {
    const Parts& p = line->second;
    answer.tables[3].add({rank, line->first, p.count, p.communication, p.hidden, p.exposed(),
                          share_of(p.hidden, p.communication)});
  }
}

void remark(Answer& answer, const RunView& view) {
  const bool on_device = answer.tables[1].rows() > 0;
  const bool on_host = answer.tables[3].rows() > 0;
  if (!view.has_device_work()) {
    answer.remarks.push_back(why_no_device_work(view));
  } else if (!on_device && on_host) {
    answer.remarks.emplace_back(
        "No communication runs on the GPU: the CPU carries it out (gloo or MPI). It is hidden "
        "where the GPU computes meanwhile; see the table host.");
  } else if (!on_device) {
    answer.remarks.emplace_back(
        "The trace has no communication: one GPU, or a library whose kernels we do not know.");
  }
}

Answer run(const RunView& view, const Options& options) {
  const Within within = within_of(options);
  const auto partials =
      per_window<Partial>(view, [&](const WindowView& window) { return compute(window, within); });
  Answer answer;
  for (const base::TableShape& shape : kTables) answer.tables.emplace_back(shape);
  std::map<std::int32_t, Partial> ranks;
  for (std::size_t w = 0; w < partials.size(); ++w) {
    const WindowView& window = view.windows[w];
    Partial& rank = ranks[window.rank];
    for (const auto& [key, parts] : partials[w].devices) rank.devices[key].merge(parts);
    for (const auto& [key, parts] : partials[w].collectives) rank.collectives[key].merge(parts);
    for (const auto& [key, parts] : partials[w].host) rank.host[key].merge(parts);
    for (const StepParts& step : partials[w].steps) {
      const Parts& p = step.parts;
      answer.tables[2].add({window.rank, window.window, step.step, step.device, p.measured,
                            p.compute, p.communication, p.hidden, p.exposed(),
                            share_of(p.hidden, p.communication),
                            share_of(p.exposed(), p.measured)});
    }
  }
  for (const auto& [rank, found] : ranks) add_rank(answer, rank, found);
  remark(answer, view);
  return answer;
}

}  // namespace

const Analysis kOverlap{
    .name = "overlap",
    .title = "Hidden communication",
    .question = "How much of the communication is hidden under computing, and which is not?",
    .parameters = kParameters,
    .tables = kTables,
    .run = run,
};

}  // namespace stepscope::analysis
