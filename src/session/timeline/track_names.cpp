#include "session/timeline/track_names.h"

#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "trace/process_record.h"

namespace stepscope::session {
namespace {

// The one name that all events of a track have; empty where there are several.
std::string_view only_name(const trace::Trace& trace, const trace::Track& track) {
  if (track.begin == track.end) return {};
  for (trace::Row row = track.begin; row < track.end; ++row) {
    if (trace.name()[row] != trace.name()[track.begin]) return {};
  }
  return trace.name_text(track.begin);
}

std::string recorded_label(const trace::ProcessRecord& record, const trace::Track& track) {
  const bool main = track.pid && track.pid == track.tid;
  if (record.is_worker && main) return fmt::format("worker process {}", track.process);
  if (main) return "main thread";
  if (!track.tid) return track.thread == "steps" ? "recorded steps" : track.thread;
  if (track.thread_name.empty()) return fmt::format("thread {}", track.thread);
  return fmt::format("thread {} ({})", track.thread, track.thread_name);
}

}  // namespace

std::string thread_label(const TimelineWindow& window, const trace::Track& track) {
  const auto& record = window.trace->header().process_record;
  if (record != nullptr && !track.thread.empty()) return recorded_label(*record, track);
  if (!track.thread_name.empty()) return track.thread_name;
  if (track.tid) return fmt::format("thread {}", track.thread);
  // Profilers write of themselves on threads that are words: "PyTorch Profiler".
  if (!track.thread.empty()) return track.thread;
  const std::string_view name = only_name(*window.trace, track);
  if (!name.empty()) return std::string(name);
  if (!track.process.empty()) return fmt::format("process {}, no thread", track.process);
  return "events of no thread";
}

std::string log_label(const TimelineWindow& window) {
  const trace::ProcessRecord& record = *window.trace->header().process_record;
  if (!record.is_worker || !record.pid) return "log lines";
  return fmt::format("log lines of worker {}", *record.pid);
}

std::optional<std::string> recorded_counter_label(std::string_view name) {
  constexpr std::string_view kLoader = "loader ";
  constexpr std::string_view kReady = "loader ready#";
  if (name.starts_with(kReady)) return fmt::format("{} batches ready", name.substr(kReady.size()));
  if (name.starts_with(kLoader) && name.find('#') != std::string_view::npos) return std::nullopt;
  return std::string(name);
}

LabelAndUnit label_and_unit(std::string name) {
  constexpr std::string_view kBytes = " bytes";
  const std::size_t open = name.rfind(" (");
  if (open != std::string::npos && name.ends_with(')')) {
    return {name.substr(0, open), name.substr(open + 2, name.size() - open - 3)};
  }
  if (name.size() > kBytes.size() && name.ends_with(kBytes)) {
    name.resize(name.size() - kBytes.size());
    return {std::move(name), "bytes"};
  }
  return {std::move(name), ""};
}

}  // namespace stepscope::session
