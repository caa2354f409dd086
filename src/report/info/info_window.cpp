// Summarizes one window of a rank.
#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

#include "report/info/info_parts.h"

namespace stepscope::report {
namespace {

using trace::Kind;
using trace::Row;

constexpr std::size_t kKinds = static_cast<std::size_t>(Kind::kCount);
constexpr std::int16_t kCpu = 0;  // c10::DeviceType

std::uint64_t positive(base::Bytes bytes) {
  return bytes > 0 ? static_cast<std::uint64_t>(bytes) : 0;
}

}  // namespace

StepInfo step_info(const trace::Steps& steps) {
  StepInfo info;
  info.source = steps.source;
  for (const trace::Step& step : steps.list) {
    const base::Nanos length = step.end - step.start;
    info.first = info.count == 0 ? step.number : std::min(info.first, step.number);
    info.last = info.count == 0 ? step.number : std::max(info.last, step.number);
    info.shortest_ns = info.count == 0 ? length : std::min(info.shortest_ns, length);
    info.longest_ns = std::max(info.longest_ns, length);
    info.total_ns += length;
    ++info.count;
  }
  return info;
}

LinkInfo link_info(const trace::Trace& trace) {
  LinkInfo info;
  const std::span<const Kind> kind = trace.kind();
  const trace::DeviceTable& device = trace.device();
  device.rows.for_each([&](Row row, std::uint32_t entry) {
    if (!trace::is_device_work(kind[row])) return;
    ++info.device_work;
    if (device.launch[entry] != trace::kNoRow) ++info.with_launch;
  });
  const trace::LaunchTable& launches = trace.launches();
  launches.rows.for_each([&](Row, std::uint32_t entry) {
    if (launches.work_of(entry).empty()) return;
    ++info.launches;
    if (launches.op[entry] != trace::kNoRow) ++info.with_operator;
  });
  const trace::OpTable& ops = trace.ops();
  ops.rows.for_each([&](Row row, std::uint32_t entry) {
    if (ops.forward_thread[entry] <= 0 || ops.sequence[entry] < 0) return;
    ++info.backward;
    if (trace.backward().rows.contains(row)) ++info.with_forward;
  });
  return info;
}

MemoryInfo memory_info(const trace::MemoryTable& memory) {
  MemoryInfo info;
  info.events = memory.rows.size();
  for (std::size_t i = 0; i < memory.rows.size(); ++i) {
    const std::uint64_t allocated = positive(memory.total_allocated[i]);
    if (memory.device_type[i] == kCpu) {
      info.host_peak_allocated = std::max(info.host_peak_allocated, allocated);
    } else {
      info.device_peak_allocated = std::max(info.device_peak_allocated, allocated);
      info.device_peak_reserved =
          std::max(info.device_peak_reserved, positive(memory.total_reserved[i]));
    }
  }
  return info;
}

void add_categories(const trace::Trace& trace, CategoryTotals& totals) {
  struct State {
    std::uint64_t events = 0, tracks = 0;
    base::Nanos covered = 0;
    std::uint32_t track = 0xffffffff;
    base::Nanos covered_until = 0;
  };
  std::vector<State> states(trace.categories().size() * kKinds);
  const auto start = trace.start();
  const auto duration = trace.duration();
  const auto category = trace.category();
  const auto kind = trace.kind();
  const auto track = trace.track();
  // Rows are by track, then by start, so one pass covers each track from left to right.
  for (std::size_t row = 0; row < trace.size(); ++row) {
    State& state = states[category[row] * kKinds + static_cast<std::size_t>(kind[row])];
    ++state.events;
    if (state.track != track[row]) {
      state.track = track[row];
      state.covered_until = start[row];
      ++state.tracks;
    }
    const base::Nanos from = std::max(start[row], state.covered_until);
    const base::Nanos to = start[row] + duration[row];
    if (to > from) {
      state.covered += to - from;
      state.covered_until = to;
    }
  }
  for (std::size_t i = 0; i < states.size(); ++i) {
    if (states[i].events == 0) continue;
    const auto the_kind = static_cast<Kind>(i % kKinds);
    const std::string name(trace.text(trace.categories()[i / kKinds]));
    CategoryInfo& info = totals[{the_kind, name}];
    info.kind = the_kind;
    info.category = name;
    info.events += states[i].events;
    info.tracks += states[i].tracks;
    info.covered_ns += states[i].covered;
  }
}

void add_collectives(const trace::Trace& trace, CollectiveTotals& totals) {
  const trace::CollectiveTable& table = trace.collectives();
  table.rows.for_each([&](Row row, std::uint32_t entry) {
    const bool on_device = trace::is_on_device(trace.kind()[row]);
    const std::string_view name = trace.text(table.name[entry]);
    ++(on_device ? totals.kernels : totals.calls)[std::string(name)];
    const std::string_view group = trace.text(table.group_name[entry]);
    if (!group.empty()) ++totals.groups[std::string(group)];
  });
}

WindowInfo window_info(std::int32_t rank, std::uint32_t number, const trace::Window& window) {
  const trace::Trace& trace = window.trace;
  WindowInfo info;
  info.rank = rank;
  info.window = number;
  info.source = window.source;
  info.host = trace.header().host;
  info.start_unix_ns = trace.span().start + trace.clock().zero_unix_ns();
  info.start_known = trace.clock().base_known;
  info.span_ns = trace.span().length();
  info.entries = trace.entries();
  info.events = trace.size();
  for (const Kind kind : trace.kind()) {
    if (trace::is_device_work(kind)) ++info.device_work;
    if (trace::is_api_call(kind)) ++info.api_calls;
  }
  std::set<std::int32_t> devices;
  trace.device().rows.for_each([&](Row row, std::uint32_t entry) {
    if (trace::is_device_work(trace.kind()[row])) devices.insert(trace.device().device[entry]);
  });
  info.devices_used.assign(devices.begin(), devices.end());
  info.steps = step_info(trace.steps());
  info.steps.recorded_ns = info.span_ns;
  info.steps.outside_ns = std::max<base::Nanos>(0, info.span_ns - info.steps.total_ns);
  info.links = link_info(trace);
  info.memory_bytes = trace.memory();
  return info;
}

}  // namespace stepscope::report
