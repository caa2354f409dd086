// Adds up waits of launched work, and finds out whether a device stops regularly.
#include "analysis/idle/queued_waits.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <unordered_map>

#include "analysis/arithmetic/intervals.h"

namespace stepscope::analysis {
namespace {

using base::Nanos;
using trace::Row;

// Turns of processes that share a device are longer, pauses of its own far shorter.
constexpr Nanos kStop = 500'000;
constexpr Nanos kAlike = 20;       // a twentieth
constexpr std::size_t kUsual = 5;  // so many kernels of a kind have a usual length

struct Stop {
  Nanos time = 0, length = 0;
  base::StringId work = base::kNoString;
  bool inside = false;
};

Nanos median_of(std::vector<Nanos> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

// The same kernel on as much data: by name and grid.
using KernelKind = std::tuple<base::StringId, std::uint32_t, std::uint32_t, std::uint32_t>;

KernelKind kind_of_kernel(const trace::Trace& trace, Row row) {
  const trace::KernelTable& kernels = trace.kernels();
  const std::uint32_t entry = kernels.rows.find(row);
  if (entry == base::RowSet::kNone) return {trace.name()[row], 0, 0, 0};
  return {trace.name()[row], kernels.grid_x[entry], kernels.grid_y[entry], kernels.grid_z[entry]};
}

// Kernels that computed far longer than the same kernel usually does.
void add_long_kernels(std::vector<Stop>& stops, const WindowView& window, const DeviceView& device,
                      const Intervals& measured) {
  const trace::Trace& trace = *window.trace;
  std::set<base::StringId> names;
  for (const Work& piece : window.work_of(device)) {
    if (piece.work_class == WorkClass::kCompute && piece.length() >= kStop)
      names.insert(trace.name()[piece.row]);
  }
  if (names.empty()) return;
  std::map<KernelKind, std::vector<const Work*>> kinds;
  for (const Work& piece : window.work_of(device)) {
    if (piece.work_class == WorkClass::kCompute && names.contains(trace.name()[piece.row]))
      kinds[kind_of_kernel(trace, piece.row)].push_back(&piece);
  }
  CoverageWalk walk(measured);
  for (const auto& [kind, pieces] : kinds) {
    if (pieces.size() < kUsual) continue;
    std::vector<Nanos> lengths;
    for (const Work* piece : pieces) lengths.push_back(piece->length());
    const Nanos usual = median_of(std::move(lengths));
    for (const Work* piece : pieces) {
      const Nanos more = piece->length() - usual;
      if (more < std::max(kStop, usual) || walk.covered({piece->start, piece->end}) == 0) continue;
      stops.push_back({piece->start, more, std::get<0>(kind), true});
    }
  }
}

// Which of the pieces of its call it is, from 1, and of how many; 0 where it is the only one.
std::pair<std::size_t, std::size_t> node_of(const trace::Trace& trace, const Work& piece) {
  if (piece.launch == trace::kNoRow) return {0, 0};
  const std::uint32_t entry = trace.launches().rows.find(piece.launch);
  if (entry == base::RowSet::kNone) return {0, 0};
  const auto pieces = trace.launches().work_of(entry);
  if (pieces.size() < 2) return {0, 0};
  return {static_cast<std::size_t>(std::ranges::find(pieces, piece.row) - pieces.begin()) + 1,
          pieces.size()};
}

// The length that most stops have, give or take a twentieth: the middle of them.
Nanos most_usual(std::vector<Nanos> lengths) {
  std::ranges::sort(lengths);
  std::size_t most = 0;
  Nanos found = 0;
  for (std::size_t first = 0, last = 0; first < lengths.size(); ++first) {
    while (last < lengths.size() && 10 * (lengths[last] - lengths[first]) <= lengths[first]) ++last;
    if (last - first <= most) continue;
    most = last - first;
    found = lengths[first + most / 2];
  }
  return found;
}

}  // namespace

void QueuedWait::merge(const QueuedWait& other) {
  waits += other.waits;
  idle += other.idle;
  longest = std::max(longest, other.longest);
  lengths.insert(lengths.end(), other.lengths.begin(), other.lengths.end());
}

Nanos QueuedWait::median() const { return median_of(lengths); }

void add_queued_waits(QueuedWaits& out, const WindowView& window, std::span<const Gap> gaps,
                      const Intervals& measured) {
  const trace::Trace& trace = *window.trace;
  using Numbers = std::tuple<base::StringId, base::StringId, std::size_t, std::size_t>;
  std::map<Numbers, QueuedWait*> known;
  CoverageWalk walk(measured);
  for (const Gap& gap : gaps) {
    if (gap.cause != Cause::kOther || gap.after == Gap::kNobody) continue;
    const Nanos length = walk.covered(gap.time);
    if (length <= 0) continue;
    const Work& next = window.work[gap.after];
    const base::StringId name = trace.name()[next.row];
    const base::StringId call =
        next.launch == trace::kNoRow ? base::kNoString : trace.name()[next.launch];
    const auto [node, of] = node_of(trace, next);
    QueuedWait*& wait = known[{name, call, node, of}];
    if (wait == nullptr) {
      wait = &out[{std::string(trace.text(name)), std::string(trace.text(call)), node, of}];
    }
    ++wait->waits;
    wait->idle += length;
    wait->longest = std::max(wait->longest, length);
    wait->lengths.push_back(length);
  }
}

Stops stops_of(const WindowView& window, const DeviceView& device, std::span<const Gap> gaps,
               const Intervals& measured) {
  Stops out;
  std::vector<Stop> stops;
  CoverageWalk walk(measured);
  for (const Gap& gap : gaps) {
    if (gap.cause != Cause::kOther || gap.after == Gap::kNobody) continue;
    const Nanos length = walk.covered(gap.time);
    if (length < kStop) continue;
    stops.push_back({gap.time.start, length, window.trace->name()[window.work[gap.after].row]});
  }
  add_long_kernels(stops, window, device, measured);
  if (stops.empty()) return out;
  std::ranges::stable_sort(stops, {}, &Stop::time);
  std::vector<Nanos> lengths;
  std::vector<Nanos> times;
  for (std::size_t i = 0; i < stops.size(); ++i) {
    const Stop& stop = stops[i];
    ++(stop.inside ? out.inside : out.between);
    (stop.inside ? out.longer : out.idle) += stop.length;
    lengths.push_back(stop.length);
    if (i > 0) times.push_back(stop.time - stops[i - 1].time);
  }
  out.usual = most_usual(lengths);
  out.period = median_of(times);
  const auto is_near = [](Nanos value, Nanos middle, Nanos part) {
    return std::max(value, middle) - std::min(value, middle) <= middle / part;
  };
  const auto share_near = [&](const std::vector<Nanos>& values, Nanos middle, Nanos part) {
    if (values.empty()) return 0.0;
    const auto near =
        std::ranges::count_if(values, [&](Nanos value) { return is_near(value, middle, part); });
    return static_cast<double>(near) / static_cast<double>(values.size());
  };
  out.alike = share_near(lengths, out.usual, kAlike);
  out.steady = share_near(times, out.period, 4);
  std::int64_t all = 0;
  std::int64_t most = 0;
  std::unordered_map<base::StringId, std::int64_t> works;
  for (const Stop& stop : stops) {
    if (!is_near(stop.length, out.usual, kAlike)) continue;
    most = std::max(most, ++works[stop.work]);
    ++all;
  }
  out.same_work = all > 0 ? static_cast<double>(most) / static_cast<double>(all) : 0;
  return out;
}

}  // namespace stepscope::analysis
