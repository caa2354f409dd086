// One window of a rank in Perfetto's format: its tracks, its slices in rows that nest, its
// counters.
#include "emit/perfetto/perfetto_window.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "emit/perfetto/perfetto_packets.h"
#include "emit/siphash.h"
#include "trace/call_tree.h"

namespace stepscope::emit {
namespace {

constexpr std::uint32_t kNoLane = std::numeric_limits<std::uint32_t>::max();

}  // namespace

SliceLanes::Placed SliceLanes::place(const Span& span) {
  ended_.clear();
  end_until(span.start);
  const auto around = tops_.lower_bound({span.end, 0});
  std::uint32_t lane = around != tops_.end() ? around->second : kNoLane;
  base::Nanos end = span.end;
  if (lane == kNoLane) {
    lane = lane_below(span.parent, span.end);
    if (lane != kNoLane) end = lanes_[lane].back().end;
  }
  if (lane == kNoLane) lane = free_lane();
  open(lane, span, end);
  return {lane, end};
}

void SliceLanes::finish() {
  ended_.clear();
  end_until(std::numeric_limits<base::Nanos>::max());
}

void SliceLanes::end_until(base::Nanos time) {
  while (!tops_.empty() && tops_.begin()->first <= time) {
    const auto [end, lane] = *tops_.begin();
    tops_.erase(tops_.begin());
    ended_.push_back({lane, end});
    lanes_[lane].pop_back();
    if (lanes_[lane].empty()) {
      free_.push(lane);
    } else {
      tops_.insert({lanes_[lane].back().end, lane});
    }
  }
}

// The lane whose innermost span is the caller that this one outlives by clock noise alone.
std::uint32_t SliceLanes::lane_below(trace::Row parent, base::Nanos end) const {
  if (parent == trace::kNoRow) return kNoLane;
  for (const auto& [top, lane] : tops_) {
    if (lanes_[lane].back().row == parent && end - top <= trace::kCalleeTolerance) return lane;
  }
  return kNoLane;
}

std::uint32_t SliceLanes::free_lane() {
  if (free_.empty()) {
    lanes_.emplace_back();
    return static_cast<std::uint32_t>(lanes_.size() - 1);
  }
  const std::uint32_t lane = free_.top();
  free_.pop();
  return lane;
}

void SliceLanes::open(std::uint32_t lane, const Span& span, base::Nanos end) {
  if (!lanes_[lane].empty()) tops_.erase({lanes_[lane].back().end, lane});
  lanes_[lane].push_back({span.row, end});
  tops_.insert({end, lane});
}

}  // namespace stepscope::emit

namespace stepscope::emit::perfetto {

std::uint64_t Tracks::uuid_of(std::string_view kind, std::string_view name,
                              std::string_view more) const {
  const std::string identity = fmt::format("{}\x1f{}\x1f{}\x1f{}", title_.key, kind, name, more);
  const std::uint64_t uuid = siphash(0x7065726665747430, 0x747261636b757569, identity);
  return std::max<std::uint64_t>(uuid, 1);  // 0 is Perfetto's own
}

std::string Tracks::process_name(const trace::Track& track) const {
  if (track.is_device) {
    return track.device < 0 ? title_.title + " device"
                            : fmt::format("{} GPU {}", title_.title, track.device);
  }
  std::string name = title_.title;
  for (const std::string& part : {track.process_name, track.process}) {
    if (!part.empty()) name += ' ' + texts_.plain(part);
  }
  return name;
}

std::string Tracks::thread_name(const trace::Track& track) const {
  if (!track.thread_name.empty()) return texts_.plain(track.thread_name);
  if (track.is_device && track.stream >= 0) return fmt::format("stream {}", track.stream);
  return track.tid ? "thread " + track.thread : texts_.plain(track.thread);
}

std::uint64_t Tracks::process(const trace::Track& track) {
  const std::uint64_t uuid = track.is_device ? uuid_of("device", std::to_string(track.device), {})
                                             : uuid_of("process", track.process, {});
  const auto [known, is_new] = known_.try_emplace(uuid, 0);
  if (!is_new) return uuid;
  known->second = ++last_number_;
  std::string message;
  Builder<TrackDescriptor> descriptor(message);
  descriptor.add_uint64(TrackDescriptor::kUuid, uuid);
  if (track.is_device) descriptor.add_enum(TrackDescriptor::kChildOrdering, kExplicitOrder);
  {
    Builder<ProcessDescriptor> fields(descriptor, TrackDescriptor::kProcess);
    fields.add_int32(ProcessDescriptor::kPid, known->second);
    fields.add_string(ProcessDescriptor::kProcessName, process_name(track));
  }
  packets_.descriptor(message);
  return uuid;
}

std::uint64_t Tracks::thread(const trace::Track& track) {
  const std::uint64_t uuid = uuid_of("thread", track.process, track.thread);
  const auto [known, is_new] = known_.try_emplace(uuid, 0);
  if (!is_new) return uuid;
  const std::uint64_t parent = process(track);
  std::string message;
  Builder<TrackDescriptor> descriptor(message);
  descriptor.add_uint64(TrackDescriptor::kUuid, uuid);
  descriptor.add_uint64(TrackDescriptor::kParentUuid, parent);
  if (track.is_device) {
    descriptor.add_string(TrackDescriptor::kName, thread_name(track));
    descriptor.add_int32(
        TrackDescriptor::kSiblingOrderRank,
        static_cast<std::int32_t>(std::clamp<std::int64_t>(track.stream, -1, 1 << 30)));
    descriptor.add_enum(TrackDescriptor::kSiblingMergeBehavior, kNeverMerge);
  } else {
    Builder<ThreadDescriptor> fields(descriptor, TrackDescriptor::kThread);
    fields.add_int32(ThreadDescriptor::kPid, known_[parent]);
    fields.add_int64(ThreadDescriptor::kTid, ++last_number_);
    fields.add_string(ThreadDescriptor::kThreadName, thread_name(track));
  }
  packets_.descriptor(message);
  return uuid;
}

std::uint64_t Tracks::child(std::uint64_t parent, std::string_view kind, const trace::Track& track,
                            std::string_view name) {
  const std::uint64_t uuid = uuid_of(fmt::format("{} {}", kind, name), track.process, track.thread);
  if (!known_.try_emplace(uuid, 0).second) return uuid;
  std::string message;
  Builder<TrackDescriptor> descriptor(message);
  descriptor.add_uint64(TrackDescriptor::kUuid, uuid);
  descriptor.add_uint64(TrackDescriptor::kParentUuid, parent);
  descriptor.add_string(TrackDescriptor::kName, name.data(), name.size());
  descriptor.add_enum(TrackDescriptor::kSiblingMergeBehavior, kNeverMerge);
  packets_.descriptor(message);
  return uuid;
}

std::uint64_t Tracks::lane(std::uint32_t track, std::uint32_t lane) {
  const trace::Track& of = trace_.tracks()[track];
  const std::uint64_t base = thread(of);
  if (lane == 0) return base;
  return child(base, "lane", of, fmt::format("{} overlap {}", thread_name(of), lane));
}

std::uint64_t Tracks::async_lane(std::uint32_t track, std::uint32_t lane) {
  const trace::Track& of = trace_.tracks()[track];
  return child(thread(of), "async", of, fmt::format("{} async {}", thread_name(of), lane));
}

std::uint64_t Tracks::counter(std::uint32_t track, std::string_view name, Unit unit) {
  const trace::Track& of = trace_.tracks()[track];
  const std::uint64_t uuid = uuid_of("counter", of.process, name);
  if (!known_.try_emplace(uuid, 0).second) return uuid;
  const std::uint64_t parent = process(of);
  std::string message;
  Builder<TrackDescriptor> descriptor(message);
  descriptor.add_uint64(TrackDescriptor::kUuid, uuid);
  descriptor.add_uint64(TrackDescriptor::kParentUuid, parent);
  descriptor.add_string(TrackDescriptor::kName, name.data(), name.size());
  std::string about;  // what makes it a counter, even when there is nothing to say about it
  if (unit == Unit::kBytes) {
    Builder<CounterDescriptor>(about).add_enum(CounterDescriptor::kUnit, kUnitBytes);
  }
  descriptor.add_message(TrackDescriptor::kCounter, about);
  packets_.descriptor(message);
  return uuid;
}

}  // namespace stepscope::emit::perfetto

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
