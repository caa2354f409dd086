// What the idle-time analysis takes and returns, and how its tables are filled.
#include <algorithm>
#include <numeric>
#include <vector>

#include "analysis/idle/idle_time.h"
#include "analysis/key_columns.h"
#include "analysis/registry.h"

namespace stepscope::analysis {
namespace {

using base::Cell;
using base::ColumnShape;
using base::Nanos;
using base::Type;
using base::Unit;

constexpr std::array<std::string_view, 2> kWithin = {"steps", "work"};
constexpr std::array<std::string_view, 2> kIdleTablesDefinitions = {"stepscope", "hta"};
constexpr std::array kIdleTablesParameters = std::to_array<Parameter>({
    {"delay", ParameterType::kDuration, "30us",
     "a shorter gap before work that was already queued is the device's own pause"},
    {"within", ParameterType::kChoice, "steps",
     "what is measured: the steps, or from the first to the last device event", kWithin},
    {"definition", ParameterType::kChoice, "stepscope",
     "hta: host, kernel and other only, from the first to the last work of each stream",
     kIdleTablesDefinitions},
    {"top", ParameterType::kCount, "20", "host operations and gaps per rank. 0: all"},
});

constexpr ColumnShape kIdleTablesStream{"stream", Type::kInt, Unit::kId, "queue of the device"};
constexpr ColumnShape kIdleTablesMeasured{"measured_ns", Type::kInt, Unit::kNanos,
                                          "wall time looked at"};
constexpr ColumnShape kIdleTablesIdle{"idle_ns", Type::kInt, Unit::kNanos,
                                      "nothing runs; the causes add up to it"};
constexpr ColumnShape kIdleTablesIdleShare{"idle_share", Type::kReal, Unit::kShare,
                                           "of the measured time"};
constexpr ColumnShape kIdleTablesHost{
    "host_ns", Type::kInt, Unit::kNanos,
    "the host had not launched the next work when the last ended"};
constexpr ColumnShape kKernel{"kernel_ns", Type::kInt, Unit::kNanos,
                              "short pauses between work that was already queued"};
constexpr ColumnShape kDependency{"dependency_ns", Type::kInt, Unit::kNanos,
                                  "queued work waited for work on another stream"};
constexpr ColumnShape kIdleTablesCommunication{
    "communication_ns", Type::kInt, Unit::kNanos,
    "queued work waited for communication on another stream"};
constexpr ColumnShape kIdleTablesStart{"start_ns", Type::kInt, Unit::kNanos,
                                       "before the first work"};
constexpr ColumnShape kEnd{"end_ns", Type::kInt, Unit::kNanos, "after the last work"};
constexpr ColumnShape kOther{"other_ns", Type::kInt, Unit::kNanos,
                             "the work was queued and did not start; the trace does not say why"};

constexpr std::array kIdleTablesByDevice = {key::kRank,
                                            key::kDevice,
                                            kIdleTablesMeasured,
                                            kIdleTablesIdle,
                                            kIdleTablesIdleShare,
                                            kIdleTablesHost,
                                            kKernel,
                                            kDependency,
                                            kIdleTablesCommunication,
                                            kIdleTablesStart,
                                            kEnd,
                                            kOther};
constexpr std::array kByStream = {key::kRank,
                                  key::kDevice,
                                  kIdleTablesStream,
                                  kIdleTablesMeasured,
                                  kIdleTablesIdle,
                                  kIdleTablesIdleShare,
                                  kIdleTablesHost,
                                  kKernel,
                                  kDependency,
                                  kIdleTablesCommunication,
                                  kIdleTablesStart,
                                  kEnd,
                                  kOther};
constexpr std::array kIdleTablesByStep = {key::kRank,
                                          key::kWindow,
                                          key::kStep,
                                          key::kDevice,
                                          kIdleTablesMeasured,
                                          kIdleTablesIdle,
                                          kIdleTablesIdleShare,
                                          kIdleTablesHost,
                                          kKernel,
                                          kDependency,
                                          kIdleTablesCommunication,
                                          kIdleTablesStart,
                                          kEnd,
                                          kOther};
constexpr ColumnShape kHostOp{
    "host_op", Type::kText, Unit::kNone,
    "what the launching thread was in for at least half of the wait; null: nothing recorded, or "
    "many short things"};
constexpr ColumnShape kWaitedIn{
    "waited_in", Type::kText, Unit::kNone,
    "the call in which that thread was waiting for the GPU when the GPU ran out of work"};
constexpr std::array kByHostOp = {
    key::kRank,
    kHostOp,
    ColumnShape{"kind", Type::kText, Unit::kNone,
                "cpu_op, annotation, python, or a call: runtime, driver"},
    kWaitedIn,
    ColumnShape{"gaps", Type::kInt, Unit::kCount, "how often a device waited"},
    ColumnShape{"idle_ns", Type::kInt, Unit::kNanos, "idle time of the rank's devices"},
    ColumnShape{"share", Type::kReal, Unit::kShare, "of the idle time of the rank's devices"},
    ColumnShape{"longest_ns", Type::kInt, Unit::kNanos, "the longest single wait"}};
constexpr std::array kByGap = {
    key::kRank,
    key::kWindow,
    key::kDevice,
    ColumnShape{"stream", Type::kInt, Unit::kId, "where the next work ran"},
    ColumnShape{"step", Type::kInt, Unit::kId, "the step in which the wait began"},
    ColumnShape{"start_ns", Type::kInt, Unit::kInstant, "when the wait began"},
    ColumnShape{"length_ns", Type::kInt, Unit::kNanos, "how much of the wait was measured"},
    ColumnShape{"cause", Type::kText, Unit::kNone,
                "host, kernel, dependency, communication, start, end or other"},
    kHostOp,
    kWaitedIn,
    ColumnShape{"before_event", Type::kInt, Unit::kId, "place in the file of the work before"},
    ColumnShape{"before", Type::kText, Unit::kNone, "its name"},
    ColumnShape{"after_event", Type::kInt, Unit::kId, "place in the file of the work after"},
    ColumnShape{"after", Type::kText, Unit::kNone, "its name"}};

constexpr std::array<std::string_view, kCauses> kIdleTablesStacked = {
    "host_ns", "kernel_ns", "dependency_ns", "communication_ns", "start_ns", "end_ns", "other_ns"};
constexpr std::array<std::string_view, 1> kIdleBar = {"idle_ns"};
constexpr std::array<std::string_view, 1> kGapBar = {"length_ns"};
constexpr std::array kIdleTablesTables = std::to_array<base::TableShape>({
    {"devices",
     "one device of one rank",
     kIdleTablesByDevice,
     {base::Chart::kStack, "rank", kIdleTablesStacked}},
    {"streams",
     "one stream of one device",
     kByStream,
     {base::Chart::kStack, "stream", kIdleTablesStacked, "rank"}},
    {"steps",
     "one step on one device",
     kIdleTablesByStep,
     {base::Chart::kStack, "step", kIdleTablesStacked, "rank"}},
    {"host_ops",
     "one host operation that kept the devices of a rank waiting, the worst first",
     kByHostOp,
     {base::Chart::kBars, "host_op", kIdleBar, "rank"}},
    {"gaps",
     "one wait of one device, the longest first",
     kByGap,
     {base::Chart::kBars, "after", kGapBar, "rank"}},
});

void add_idle_tables_parts(base::Table& table, std::vector<Cell> cells, const IdleParts& parts) {
  const Nanos idle = parts.idle();
  cells.emplace_back(parts.measured);
  cells.emplace_back(idle);
  cells.emplace_back(static_cast<double>(idle) / static_cast<double>(parts.measured));
  for (const Nanos part : parts.causes) cells.emplace_back(part);
  table.add(cells);
}

}  // namespace

const Analysis kIdleTime{
    .name = "idle-time",
    .title = "Idle time",
    .question = "Why is the GPU waiting, and for what?",
    .parameters = kIdleTablesParameters,
    .tables = kIdleTablesTables,
    .run = idle_time,
};

Nanos IdleParts::idle() const { return std::accumulate(causes.begin(), causes.end(), Nanos{0}); }

void IdleParts::merge(const IdleParts& other) {
  measured += other.measured;
  for (std::size_t i = 0; i < kCauses; ++i) causes[i] += other.causes[i];
}

void HostShareCounter::add(const HostPart& host, Nanos idle) {
  const auto name = [&](trace::Row row) {
    return row == trace::kNoRow ? base::kNoString : trace_.name()[row];
  };
  const bool in_any = host.doing != trace::kNoRow;
  const int kind = in_any ? static_cast<int>(trace_.kind()[host.doing]) : -1;
  const std::uint32_t doing = doing_.number(name(host.doing), static_cast<std::uint32_t>(kind + 1));
  const std::uint32_t number = pairs_.number(doing, name(host.waiting));
  if (number == known_.size()) {
    known_.push_back(&shares_.of({trace_.text(name(host.doing)),
                                  in_any ? name_of(trace_.kind()[host.doing]) : std::string_view{},
                                  trace_.text(name(host.waiting))}));
  }
  HostShares::Share* const share = known_[number];
  ++share->gaps;
  share->idle += idle;
  share->longest = std::max(share->longest, idle);
}

void HostShares::merge(const HostShares& other) {
  for (const auto& [key, share] : other.shares_) {
    Share& own = shares_[key];
    own.gaps += share.gaps;
    own.idle += share.idle;
    own.longest = std::max(own.longest, share.longest);
  }
}

IdleTables::IdleTables()
    : devices(kIdleTablesTables[0]),
      streams(kIdleTablesTables[1]),
      steps(kIdleTablesTables[2]),
      hosts(kIdleTablesTables[3]),
      gaps(kIdleTablesTables[4]) {}

void IdleTables::add_device(std::int32_t rank, std::int32_t device, const IdleParts& parts) {
  add_idle_tables_parts(devices, {rank, device}, parts);
}

void IdleTables::add_stream(std::int32_t rank, std::int32_t device, std::int64_t stream,
                            const IdleParts& parts) {
  add_idle_tables_parts(streams, {rank, device, stream}, parts);
}

void IdleTables::add_step(std::int32_t rank, std::uint32_t window, std::int64_t step,
                          std::int32_t device, const IdleParts& parts) {
  add_idle_tables_parts(steps, {rank, window, step, device}, parts);
}

void IdleTables::add_hosts(std::int32_t rank, const HostShares& found, Nanos idle,
                           std::size_t top) {
  std::vector<std::pair<HostShares::Key, HostShares::Share>> lines(found.shares().begin(),
                                                                   found.shares().end());
  std::ranges::stable_sort(lines, std::ranges::greater{},
                           [](const auto& line) { return line.second.idle; });
  if (top != 0 && lines.size() > top) lines.resize(top);
  for (const auto& [key, share] : lines) {
    const auto& [op, kind, waited_in] = key;
    hosts.add({rank, base::text_or_null(op), base::text_or_null(kind),
               base::text_or_null(waited_in), share.gaps, share.idle,
               static_cast<double>(share.idle) / static_cast<double>(idle), share.longest});
  }
}

Answer IdleTables::take() {
  Answer answer;
  for (base::Table* table : {&devices, &streams, &steps, &hosts, &gaps}) {
    answer.tables.push_back(std::move(*table));
  }
  return answer;
}

}  // namespace stepscope::analysis
