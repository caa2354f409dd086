// How much communication is hidden under computing. Hidden time costs nothing; exposed time is what
// a faster network or a better schedule could save.
#include <algorithm>
#include <array>
#include <compare>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/arithmetic/intervals.h"
#include "analysis/device/classes.h"
#include "analysis/device/communication_uses.h"
#include "analysis/key_columns.h"
#include "analysis/registry.h"
#include "analysis/share_of.h"
#include "analysis/steps/within.h"
#include "analysis/view.h"
#include "trace/trace.h"

namespace stepscope::analysis {
namespace {

// What a communication is called: by the arguments of its kernel, else of the call that launched
// it, else by the host range around that call, else by the kernel.

struct CollectiveName {
  std::string collective;
  std::optional<std::string> group;
  auto operator<=>(const CollectiveName&) const = default;
};

class CollectiveNames {
 public:
  explicit CollectiveNames(const trace::Trace& trace) : trace_(&trace) {}
  CollectiveName name_of(const Work& piece) const;

 private:
  std::optional<CollectiveName> said_by(trace::Row row) const;

  const trace::Trace* trace_;
};

using trace::Kind;
using trace::Row;

bool carried_out_by_host(std::string_view range) {
  return range.starts_with("gloo:") || range.starts_with("mpi:");
}

std::optional<CollectiveName> CollectiveNames::said_by(Row row) const {
  const trace::CollectiveTable& collectives = trace_->collectives();
  const std::uint32_t entry = collectives.rows.find(row);
  if (entry == base::RowSet::kNone) return std::nullopt;
  CollectiveName out{std::string(trace_->text(collectives.name[entry])), std::nullopt};
  if (const base::StringId group = collectives.group_name[entry]; group != base::kNoString) {
    out.group = std::string(trace_->text(group));
  }
  return out;
}

CollectiveName CollectiveNames::name_of(const Work& piece) const {
  if (auto name = said_by(piece.row)) return *name;
  std::string_view range;
  if (piece.launch != trace::kNoRow) {
    for (Row row = trace_->parent()[piece.launch]; row != trace::kNoRow;
         row = trace_->parent()[row]) {
      if (auto name = said_by(row)) return *name;
      const Kind kind = trace_->kind()[row];
      const bool named = kind == Kind::kCpuOp || kind == Kind::kAnnotation;
      if (range.empty() && named && names_communication_call(trace_->name_text(row))) {
        range = trace_->name_text(row);
      }
    }
  }
  return {std::string(range.empty() ? trace_->name_text(piece.row) : range), std::nullopt};
}

// Ranges in which the CPU itself communicates (gloo, MPI), by name, in the order of rows. Those of
// NCCL and its like only launch kernels.
std::map<std::string, std::vector<Interval>> host_communication(const trace::Trace& trace) {
  std::map<std::string, std::vector<Interval>> out;
  std::vector<std::uint8_t> known(trace.strings().size());  // by name: 0 not asked, 1 no, 2 yes
  for (Row row = 0; row < trace.size(); ++row) {
    const Kind kind = trace.kind()[row];
    if (kind != Kind::kCollective && kind != Kind::kAnnotation && kind != Kind::kCpuOp) continue;
    if ((trace.flags()[row] & trace::kFarTime) != 0) continue;
    const base::StringId name = trace.name()[row];
    if (name == base::kNoString) continue;
    if (kind != Kind::kCollective) {
      if (known[name] == 0) known[name] = carried_out_by_host(trace.text(name)) ? 2 : 1;
      if (known[name] == 1) continue;
    }
    out[std::string(trace.text(name))].push_back({trace.start()[row], trace.end(row)});
  }
  return out;
}

using base::Nanos;
using base::Type;
using base::Unit;

constexpr std::array kOverlapParameters = {kWithin};

constexpr base::ColumnShape kOverlapCommunication{"communication_ns", Type::kInt, Unit::kNanos,
                                                  "time in which it runs"};
constexpr base::ColumnShape kOverlapHidden{"hidden_ns", Type::kInt, Unit::kNanos,
                                           "of it while the device computes"};
constexpr base::ColumnShape kExposed{"exposed_ns", Type::kInt, Unit::kNanos,
                                     "of it while nothing computes"};
constexpr base::ColumnShape kOverlapHiddenShare{"hidden_share", Type::kReal, Unit::kShare,
                                                "of the communication time"};
constexpr base::ColumnShape kHasBackward{"has_backward", Type::kBool, Unit::kNone,
                                         "the recording has a backward pass"};
constexpr base::ColumnShape kOverlapMeasured{"measured_ns", Type::kInt, Unit::kNanos, "wall time"};
constexpr base::ColumnShape kOverlapCompute{"compute_ns", Type::kInt, Unit::kNanos,
                                            "at least one computing kernel runs"};
constexpr base::ColumnShape kExposedShare{"exposed_share", Type::kReal, Unit::kShare,
                                          "exposed communication, of the wall time"};

constexpr std::array kOverlapDevices = {key::kRank,      key::kDevice,          kOverlapMeasured,
                                        kOverlapCompute, kOverlapCommunication, kOverlapHidden,
                                        kExposed,        kOverlapHiddenShare,   kExposedShare};
constexpr std::array kCollectives = {
    key::kRank,
    key::kDevice,
    base::ColumnShape{"collective", Type::kText, Unit::kNone,
                      "as the profiler names it, else the host range or the kernel"},
    base::ColumnShape{"group", Type::kText, Unit::kNone, "process group; null: not recorded"},
    base::ColumnShape{"count", Type::kInt, Unit::kCount, "kernels that begin in that time"},
    kOverlapCommunication,
    kOverlapHidden,
    kExposed,
    kOverlapHiddenShare};
constexpr std::array kSteps = {
    key::kRank,      key::kWindow,          key::kStep,     key::kDevice, kOverlapMeasured,
    kOverlapCompute, kOverlapCommunication, kOverlapHidden, kExposed,     kOverlapHiddenShare,
    kExposedShare};
constexpr std::array kOverlapHost = {
    key::kRank,
    base::ColumnShape{"collective", Type::kText, Unit::kNone, "the host range"},
    base::ColumnShape{"count", Type::kInt, Unit::kCount, "ranges that begin in that time"},
    kOverlapCommunication,
    base::ColumnShape{"hidden_ns", Type::kInt, Unit::kNanos, "of it while any device computes"},
    kExposed,
    kOverlapHiddenShare,
    kHasBackward};

constexpr std::array kCommunicationUses = {
    key::kRank,
    base::ColumnShape{"use", Type::kText, Unit::kNone,
                      "data-parallel, sharded, tensor-parallel, expert-parallel, embeddings, "
                      "pipeline, optimizer, all-to-all; unknown: the trace does not say"},
    base::ColumnShape{"known_by", Type::kText, Unit::kNone,
                      "the process group, range, operator, frame or kernel that says so"},
    base::ColumnShape{"count", Type::kInt, Unit::kCount, "kernels that begin in that time"},
    kOverlapCommunication,
    kOverlapHidden,
    kExposed,
    kOverlapHiddenShare,
    kHasBackward};

constexpr std::array<std::string_view, 2> kOverlapStacked = {"hidden_ns", "exposed_ns"};
constexpr std::array kOverlapTables = std::to_array<base::TableShape>({
    {"devices",
     "one device of one rank",
     kOverlapDevices,
     {base::Chart::kStack, "rank", kOverlapStacked}},
    {"collectives",
     "one collective of one group on one device, the most exposed first",
     kCollectives,
     {base::Chart::kStack, "collective", kOverlapStacked, "rank"}},
    {"steps",
     "one step on one device",
     kSteps,
     {base::Chart::kStack, "step", kOverlapStacked, "rank"}},
    {"host",
     "one collective that the CPU carries out (gloo, MPI), all threads of a rank together",
     kOverlapHost,
     {base::Chart::kStack, "collective", kOverlapStacked, "rank"}},
    {"uses",
     "what communication is for, all devices of a rank together, the most exposed first",
     kCommunicationUses,
     {base::Chart::kStack, "use", kOverlapStacked, "rank"}},
});

struct OverlapParts {
  Nanos measured = 0, compute = 0, communication = 0, hidden = 0;
  std::uint64_t count = 0;
  Nanos exposed() const { return communication - hidden; }
  void merge(const OverlapParts& other) {
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
  OverlapParts parts;
};

struct OverlapPartial {
  std::map<std::int32_t, OverlapParts> devices;
  std::map<std::pair<std::int32_t, CollectiveName>, OverlapParts> collectives;
  std::map<std::string, OverlapParts> host;
  std::map<KnownUse, OverlapParts> uses;
  bool has_backward = false;
  std::vector<StepParts> steps;
};

OverlapParts overlap_parts_of(const Intervals& compute, const Intervals& communication,
                              const Intervals& within) {
  const Intervals running = intersect(communication, within);
  return {.measured = total(within),
          .compute = common(compute, within),
          .communication = total(running),
          .hidden = common(running, compute)};
}

bool holds_overlap(const Intervals& set, Nanos time) { return covered(set, {time, time + 1}) > 0; }

// Intervals of one name come by start, as the work does.
void add_collectives(OverlapPartial& out, const WindowView& window, const DeviceView& device,
                     const Intervals& within) {
  std::map<CollectiveName, std::pair<Union, std::uint64_t>> by_name;
  std::map<KnownUse, std::pair<Union, std::uint64_t>> by_use;
  CollectiveNames names(*window.trace);
  CommunicationUses uses(window);
  for (const Work& piece : window.work_of(device)) {
    if (piece.work_class != WorkClass::kCommunication) continue;
    const CollectiveName name = names.name_of(piece);
    const std::uint64_t begun = holds_overlap(within, piece.start) ? 1 : 0;
    for (auto* const of : {&by_name[name], &by_use[uses.use_of(piece, name.collective)]}) {
      of->first.add(piece.start, piece.end);
      of->second += begun;
    }
  }
  out.has_backward |= uses.has_backward();
  for (const auto& [use, found] : by_use) {
    OverlapParts parts = overlap_parts_of(device.compute, found.first.set(), within);
    parts.count = found.second;
    if (parts.count > 0 || parts.communication > 0) out.uses[use].merge(parts);
  }
  for (const auto& [name, found] : by_name) {
    OverlapParts parts = overlap_parts_of(device.compute, found.first.set(), within);
    parts.count = found.second;
    if (parts.count > 0 || parts.communication > 0) {
      out.collectives[{device.device, name}].merge(parts);
    }
  }
}

void add_overlap_host(OverlapPartial& out, const WindowView& window) {
  Intervals compute;
  for (const DeviceView& device : window.devices) compute = unite(compute, device.compute);
  for (auto& [name, ranges] : host_communication(*window.trace)) {
    OverlapParts parts = overlap_parts_of(compute, sorted_union(ranges), window.measured);
    for (const Interval& range : ranges)
      parts.count += holds_overlap(window.measured, range.start) ? 1 : 0;
    if (parts.count > 0 || parts.communication > 0) out.host[name].merge(parts);
  }
  if (!out.host.empty()) out.has_backward |= CommunicationUses(window).has_backward();
}

OverlapPartial compute_overlap(const WindowView& window, Within within) {
  OverlapPartial out;
  for (const DeviceView& device : window.devices) {
    const Intervals time = measured_time(window, device, within);
    out.devices[device.device] = overlap_parts_of(device.compute, device.communication, time);
    add_collectives(out, window, device, time);
    if (within == Within::kWork || !window.has_steps) continue;
    for (const StepTime& step : window.steps) {
      if (!step.selected) continue;
      const Intervals compute = clip(device.compute, step.span);
      const Intervals communication = clip(device.communication, step.span);
      out.steps.push_back({step.number, device.device,
                           overlap_parts_of(compute, communication, Intervals{step.span})});
    }
  }
  add_overlap_host(out, window);
  return out;
}

// The most exposed first; of equals by name.
template <class Key>
std::vector<const std::pair<const Key, OverlapParts>*> by_exposed(
    const std::map<Key, OverlapParts>& lines) {
  std::vector<const std::pair<const Key, OverlapParts>*> order;
  order.reserve(lines.size());
  for (const auto& line : lines) order.push_back(&line);
  std::ranges::stable_sort(order, std::ranges::greater{},
                           [](const auto* line) { return line->second.exposed(); });
  return order;
}

void add_overlap_rank(Answer& answer, std::int32_t rank, const OverlapPartial& found) {
  for (const auto& [device, p] : found.devices) {
    answer.tables[0].add({rank, device, p.measured, p.compute, p.communication, p.hidden,
                          p.exposed(), share_of(p.hidden, p.communication),
                          share_of(p.exposed(), p.measured)});
  }
  for (const auto* line : by_exposed(found.collectives)) {
    const auto& [device, name] = line->first;
    const OverlapParts& p = line->second;
    answer.tables[1].add({rank, device, name.collective,
                          name.group ? base::Cell(*name.group) : base::Cell(base::Null{}), p.count,
                          p.communication, p.hidden, p.exposed(),
                          share_of(p.hidden, p.communication)});
  }
  for (const auto* line : by_exposed(found.uses)) {
    const OverlapParts& p = line->second;
    const std::string& by = line->first.known_by;
    answer.tables[4].add({rank, name_of(line->first.use),
                          by.empty() ? base::Cell(base::Null{}) : base::Cell(by), p.count,
                          p.communication, p.hidden, p.exposed(),
                          share_of(p.hidden, p.communication), found.has_backward});
  }
  for (const auto* line : by_exposed(found.host)) {
    const OverlapParts& p = line->second;
    answer.tables[3].add({rank, line->first, p.count, p.communication, p.hidden, p.exposed(),
                          share_of(p.hidden, p.communication), found.has_backward});
  }
}

void remark_overlap(Answer& answer, const RunView& view) {
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

Answer run_overlap(const RunView& view, const Options& options) {
  const Within within = within_of(options);
  const auto partials = per_window<OverlapPartial>(
      view, [&](const WindowView& window) { return compute_overlap(window, within); });
  Answer answer;
  for (const base::TableShape& shape : kOverlapTables) answer.tables.emplace_back(shape);
  std::map<std::int32_t, OverlapPartial> ranks;
  for (std::size_t w = 0; w < partials.size(); ++w) {
    const WindowView& window = view.windows[w];
    OverlapPartial& rank = ranks[window.rank];
    for (const auto& [key, parts] : partials[w].devices) rank.devices[key].merge(parts);
    for (const auto& [key, parts] : partials[w].collectives) rank.collectives[key].merge(parts);
    for (const auto& [key, parts] : partials[w].host) rank.host[key].merge(parts);
    for (const auto& [key, parts] : partials[w].uses) rank.uses[key].merge(parts);
    rank.has_backward |= partials[w].has_backward;
    for (const StepParts& step : partials[w].steps) {
      const OverlapParts& p = step.parts;
      answer.tables[2].add({window.rank, window.window, step.step, step.device, p.measured,
                            p.compute, p.communication, p.hidden, p.exposed(),
                            share_of(p.hidden, p.communication),
                            share_of(p.exposed(), p.measured)});
    }
  }
  for (const auto& [rank, found] : ranks) add_overlap_rank(answer, rank, found);
  remark_overlap(answer, view);
  return answer;
}

}  // namespace

const Analysis kOverlap{
    .name = "overlap",
    .title = "Hidden communication",
    .question = "How much of the communication is hidden under computing, and which is not?",
    .parameters = kOverlapParameters,
    .tables = kOverlapTables,
    .run = run_overlap,
};

}  // namespace stepscope::analysis
