// Lines over time: those that were recorded, and those that are computed for viewers.
#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "session/export.h"
#include "session/timeline/track_list.h"
#include "trace/process_record.h"

namespace stepscope::session {
namespace {

// Memory of a GPU is recorded by host threads; its line still belongs to the GPU.
std::optional<std::int32_t> device_of(const trace::Track& track, std::string_view name) {
  if (track.is_device) return track.device;
  if (!name.starts_with("GPU ")) return std::nullopt;
  std::int32_t device = -1;
  const auto [end, error] = std::from_chars(name.data() + 4, name.data() + name.size(), device);
  return error == std::errc() && *end == ' ' ? std::optional(device) : std::nullopt;
}

}  // namespace

void TrackList::add_recorded_counters(const TimelineWindow& window) {
  const trace::Trace& trace = *window.trace;
  const trace::CounterTable& counters = trace.counters();
  for (std::size_t i = 0; i < counters.row.size(); ++i) {
    const trace::Row row = counters.row[i];
    const double value = counters.value[i];
    if (!std::isfinite(value) || (trace.flags()[row] & trace::kFarTime) != 0) continue;
    const std::string_view name = trace.name_text(row);
    const std::string_view series = trace.text(counters.series[i]);
    const trace::Track& of = trace.tracks()[trace.track()[row]];
    const std::string full = series.empty() || series == name || series == "value"
                                 ? std::string(name)
                                 : fmt::format("{} {}", name, series);
    const auto& record = trace.header().process_record;
    const std::optional<std::string> label =
        record != nullptr ? recorded_counter_label(full) : full;
    if (!label) continue;
    const Order order{
        window.rank, kCounterSection, 0, 0, 0, fmt::format("{}\n{}", full, of.process)};
    TimelineTrack& to = track(order, window, TrackKind::kCounter);
    if (to.label.empty()) {
      LabelAndUnit names = label_and_unit(*label);
      to.label = std::move(names.label);
      // Processes of a rank have lines of the same name.
      if (record != nullptr && record->is_worker && record->pid) {
        to.label += fmt::format(" of worker {}", *record->pid);
      }
      to.unit = std::move(names.unit);
      to.process = of.process;
      to.process_name = of.process_name;
    }
    lines_[order].push_back({trace.start()[row] + window.offset, value});
  }
}

base::Status TrackList::add_computed_counters(const OpenedRun& recording, const Study& study) {
  SCOPE_TRY(const auto series, counter_series(recording.run, study, MemorySeries::kInclude));
  std::size_t index = 0;
  for (const trace::RankTraces& rank : recording.run.ranks) {
    for (std::uint32_t w = 0; w < rank.windows.size(); ++w, ++index) {
      const TimelineWindow* window = timeline_->window(rank.rank.value, w);
      if (window == nullptr) continue;
      for (const emit::CounterSeries& one : series[index]) {
        const trace::Track& of = window->trace->tracks()[one.track];
        LabelAndUnit names = label_and_unit(one.name);
        const auto device = device_of(of, one.name);
        const Order order = device ? Order{window->rank, kDeviceSection, *device, 2, 0, one.name}
                                   : Order{window->rank, kCounterSection, 0, 0, 0, one.name};
        TimelineTrack& to = device
                                ? device_track(*window, TrackKind::kCounter, *device, 0, one.name)
                                : track(order, *window, TrackKind::kCounter);
        to.label = std::move(names.label);
        to.unit = std::move(names.unit);
        std::vector<CounterLine::Sample>& line = lines_[order];
        for (const emit::CounterPoint& point : one.points) {
          line.push_back({point.time + window->offset, point.value});
        }
      }
    }
  }
  return base::Done{};
}

}  // namespace stepscope::session
