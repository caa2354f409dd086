#include "emit/perfetto/perfetto_window.h"

#include <algorithm>

#include <fmt/format.h>

#include "emit/perfetto/perfetto_args.h"

namespace stepscope::emit::perfetto {
namespace {

constexpr std::uint32_t kPerfettoWindowNone = base::RowSet::kNone;

// c10::DeviceType.
std::string device_name(int type, int number) {
  if (type == 0) return "CPU";
  if (type == 1) return fmt::format("GPU {}", std::max(number, 0));
  return fmt::format("device type {} number {}", type, number);
}

}  // namespace

WindowWriter::WindowWriter(Packets& packets, Tracks& tracks, const trace::Trace& trace,
                           const Texts& texts, base::Nanos to_time, std::uint64_t first_flow)
    : packets_(packets),
      tracks_(tracks),
      trace_(trace),
      texts_(texts),
      to_time_(to_time),
      first_flow_(first_flow) {
  trace.backward().rows.for_each([&](trace::Row row, std::uint32_t entry) {
    if (has_slice(row) && has_slice(trace.backward().forward[entry])) {
      backward_of_.emplace_back(trace.backward().forward[entry], row);
    }
  });
  std::sort(backward_of_.begin(), backward_of_.end());
}

bool WindowWriter::has_slice(trace::Row row) const {
  return row != trace::kNoRow && trace_.phase()[row] == trace::Phase::kSpan &&
         (trace_.flags()[row] & trace::kFarTime) == 0;
}

bool WindowWriter::write(const Output& out, Written& written) {
  for (std::uint32_t track = 0; track < trace_.tracks().size(); ++track) {
    const trace::Track& of = trace_.tracks()[track];
    spans_ = {};
    async_ = {};
    for (trace::Row row = of.begin; row < of.end; ++row) {
      if ((trace_.flags()[row] & trace::kFarTime) != 0) {
        ++written.left_out;
        continue;
      }
      write_row(row, track);
      ++written.events;
      if (out.failed()) return false;
    }
    spans_.finish();
    end_slices(track);
    async_.finish();
    end_async(track);
  }
  return !out.failed();
}

void WindowWriter::write_row(trace::Row row, std::uint32_t track) {
  switch (trace_.phase()[row]) {
    case trace::Phase::kSpan:
      write_span(row, track);
      break;
    case trace::Phase::kAsyncSpan:
      write_async(row, track);
      break;
    case trace::Phase::kInstant:
    case trace::Phase::kAsyncInstant:
      write_instant(row, track);
      write_memory(row, track);
      break;
    case trace::Phase::kCounter:
      write_counters(row, track);
      break;
  }
}

void WindowWriter::write_span(trace::Row row, std::uint32_t track) {
  const auto placed =
      spans_.place({row, trace_.start()[row], trace_.end(row), trace_.parent()[row]});
  end_slices(track);
  begin_slice(row, tracks_.lane(track, placed.lane), placed.end);
}

void WindowWriter::write_async(trace::Row row, std::uint32_t track) {
  const auto placed = async_.place({row, trace_.start()[row], trace_.end(row), trace::kNoRow});
  end_async(track);
  begin_slice(row, tracks_.async_lane(track, placed.lane), placed.end);
}

void WindowWriter::begin_slice(trace::Row row, std::uint64_t track, base::Nanos end) {
  packets_.start(EventType::kBegin, track, time(trace_.start()[row]));
  packets_.name(trace_.name()[row]);
  packets_.category(trace_.category()[row]);
  add_flows(row);
  if (end != trace_.end(row)) packets_.integer(Arg::kDuration, trace_.duration()[row]);
  add_args(packets_, trace_, texts_, row);
  packets_.send();
}

// An arrow from every call to each piece of work it launched, and from forward to backward. Its
// number is that of the event it ends at, so that one event can be the start of many.
void WindowWriter::add_flows(trace::Row row) {
  std::vector<std::uint64_t> starting;
  std::vector<std::uint64_t> ending;
  if (const auto at = trace_.launches().rows.find(row); at != kPerfettoWindowNone) {
    for (const trace::Row work : trace_.launches().work_of(at)) {
      if (has_slice(work)) starting.push_back(flow_to(work));
    }
  }
  const auto first =
      std::lower_bound(backward_of_.begin(), backward_of_.end(), std::pair{row, trace::Row{0}});
  for (auto at = first; at != backward_of_.end() && at->first == row; ++at) {
    starting.push_back(flow_to(at->second));
  }
  const std::uint32_t device = trace_.device().rows.find(row);
  const std::uint32_t backward = trace_.backward().rows.find(row);
  const bool is_launched = device != kPerfettoWindowNone &&
                           trace::is_device_work(trace_.kind()[row]) &&
                           has_slice(trace_.device().launch[device]);
  const bool is_backward =
      backward != kPerfettoWindowNone && has_slice(trace_.backward().forward[backward]);
  if ((is_launched || is_backward) && has_slice(row)) ending.push_back(flow_to(row));
  packets_.flows(starting, ending);
}

void WindowWriter::end_slices(std::uint32_t track) {
  for (const SliceLanes::Ended& ended : spans_.ended()) {
    packets_.start(EventType::kEnd, tracks_.lane(track, ended.lane), time(ended.time));
    packets_.send();
  }
}

void WindowWriter::end_async(std::uint32_t track) {
  for (const SliceLanes::Ended& ended : async_.ended()) {
    packets_.start(EventType::kEnd, tracks_.async_lane(track, ended.lane), time(ended.time));
    packets_.send();
  }
}

void WindowWriter::write_instant(trace::Row row, std::uint32_t track) {
  packets_.start(EventType::kInstant, tracks_.lane(track, 0), time(trace_.start()[row]));
  packets_.name(trace_.name()[row]);
  packets_.category(trace_.category()[row]);
  add_args(packets_, trace_, texts_, row);
  packets_.send();
}

// A counter event may have several series; each is a track of its own.
void WindowWriter::write_counters(trace::Row row, std::uint32_t track) {
  const trace::CounterTable& table = trace_.counters();
  const auto rows = table.row.span();
  const auto [first, last] = std::equal_range(rows.begin(), rows.end(), row);
  const std::string_view name = texts_.name(trace_.name()[row]);
  for (auto at = first; at != last; ++at) {
    const auto i = static_cast<std::size_t>(at - rows.begin());
    const std::string_view series = texts_.name(table.series[i]);
    const std::string title =
        series == name ? std::string(name) : fmt::format("{} {}", name, series);
    write_counter(tracks_.counter(track, title, Tracks::Unit::kNone), trace_.start()[row],
                  table.value[i]);
  }
}

void WindowWriter::write_memory(trace::Row row, std::uint32_t track) {
  const trace::MemoryTable& table = trace_.memory_events();
  const std::uint32_t at = table.rows.find(row);
  if (at == kPerfettoWindowNone) return;
  const std::string device = device_name(table.device_type[at], table.device_id[at]);
  const auto total = [&](std::string_view what, base::Bytes bytes) {
    if (bytes < 0) return;
    const std::string title = fmt::format("{} {}", device, what);
    write_counter(tracks_.counter(track, title, Tracks::Unit::kBytes), trace_.start()[row],
                  static_cast<double>(bytes));
  };
  total("allocated", table.total_allocated[at]);
  total("reserved", table.total_reserved[at]);
}

void WindowWriter::write_series(std::span<const CounterSeries> all, Written& written) {
  for (const CounterSeries& series : all) {
    const std::uint64_t track = tracks_.counter(series.track, series.name, Tracks::Unit::kNone);
    for (const CounterPoint& point : series.points) write_counter(track, point.time, point.value);
    written.events += series.points.size();
  }
}

void WindowWriter::write_counter(std::uint64_t track, base::Nanos at, double value) {
  packets_.start(EventType::kCounter, track, time(at));
  packets_.counter_value(value);
  packets_.send();
}

}  // namespace stepscope::emit::perfetto
