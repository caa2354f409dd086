// The last part of TraceBuilder: what the tracks are, who called whom, what launched what.

#include <algorithm>
#include <deque>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "base/parallel.h"
#include "trace/builder.h"
#include "trace/links.h"
#include "trace/step_finder.h"

namespace stepscope::trace {
namespace {

constexpr std::size_t kStretchesOfAThread = 4;
constexpr std::size_t kLeastStretchRows = 16'384;

// Without a way out of the loop: this goes through many kinds at a time.
bool any_on_device(std::span<const Kind> kinds) {
  std::uint8_t any = 0;
  for (const Kind kind : kinds) {
    for (const Kind on_device : kOnDevice) any |= static_cast<std::uint8_t>(kind == on_device);
  }
  return any != 0;
}

}  // namespace

void TraceBuilder::label_tracks() {
  struct Process {
    std::optional<std::string_view> name, labels;
    std::optional<std::int64_t> sort_index;
  };
  std::map<std::string_view, Process> processes;
  for (const LabelRow& label : labels_) {
    Track& track = out_.tracks_[label.track];
    const std::string_view text = out_.text(label.text);
    switch (label.what) {
      case LabelRow::What::kThreadName:
        track.thread_name = text;
        break;
      case LabelRow::What::kThreadSort:
        track.thread_sort_index = label.number;
        break;
      case LabelRow::What::kProcessName:
        processes[track.process].name = text;
        break;
      case LabelRow::What::kProcessLabels:
        processes[track.process].labels = text;
        break;
      case LabelRow::What::kProcessSort:
        processes[track.process].sort_index = label.number;
        break;
    }
  }
  for (Track& track : out_.tracks_) {
    const auto found = processes.find(track.process);
    if (found == processes.end()) continue;
    if (found->second.name) track.process_name = *found->second.name;
    if (found->second.labels) track.process_labels = *found->second.labels;
    if (found->second.sort_index) track.process_sort_index = found->second.sort_index;
  }
  for (Track& track : out_.tracks_) {
    if (!any_on_device(out_.kind_.span().subspan(track.begin, track.end - track.begin))) continue;
    for (Row row = track.begin; row < track.end && track.stream < 0; ++row) {
      if (!is_on_device(out_.kind_[row])) continue;
      const std::uint32_t entry = out_.device_.rows.find(row);
      if (!track.is_device) {
        track.is_device = true;
        if (track.pid) track.device = static_cast<std::int32_t>(*track.pid);
      }
      if (entry == base::RowSet::kNone || !is_device_work(out_.kind_[row])) continue;
      if (out_.device_.device[entry] >= 0) track.device = out_.device_.device[entry];
      track.stream = out_.device_.stream[entry];
    }
    if (track.is_device && track.stream < 0 && track.tid) track.stream = *track.tid;
  }
}

// Walking a track in stretches takes a little more than in one piece: none where one thread works.
std::size_t TraceBuilder::rows_of_a_stretch(std::size_t rows) const {
  if (in_.threads <= 1) return std::max<std::size_t>(rows, 1);
  return std::max(kLeastStretchRows, rows / (in_.threads * kStretchesOfAThread));
}

// What runs on a device is called by nothing there.
void TraceBuilder::clear_device_parents() {
  for (const Track& track : out_.tracks_) {
    if (!track.is_device) continue;
    std::ranges::fill(out_.parent_.span().subspan(track.begin, track.end - track.begin), kNoRow);
  }
}

void TraceBuilder::link() {
  out_.parent_ = std::move(place_);  // as large, and not needed any more
  const TreeColumns columns{out_.start(), out_.duration(),    out_.kind(),
                            out_.phase(), out_.flags_.span(), out_.parent_.span()};
  const LinkInput in{out_.start(),  out_.duration(), out_.kind(),   out_.track(),
                     out_.parent(), out_.tracks(),   &out_.strings_};
  PythonRows python(python_);
  std::deque<TrackTree> trees;  // of the tracks
  std::vector<std::pair<std::uint32_t, std::size_t>> stretches;
  for (std::uint32_t i = 0; i < out_.tracks_.size(); ++i) {
    const Track& track = out_.tracks_[i];
    const Row calls_end = track.is_device ? track.begin : track.end;
    trees.emplace_back(columns, python, track.begin, calls_end, rows_of_a_stretch(out_.size()));
    for (std::size_t k = 0; k < trees.back().stretches(); ++k) stretches.emplace_back(i, k);
  }
  // What is one piece comes first: the stretches fill the time beside it.
  LinkCounts launches;
  std::optional<Steps> steps;
  const std::function<void()> whole[] = {
      [&] { launches = link_launches(in, out_.device_, out_.launches_); },
      [&] { link_backward(in, out_.ops_, out_.flows_, out_.backward_); },
      [&] { steps = named_steps(out_, in_.step_pattern); },
      [&] { clear_device_parents(); },
  };
  base::parallel_for(std::size(whole) + stretches.size(), in_.threads, [&](std::size_t i) {
    if (i < std::size(whole)) return whole[i]();
    const auto [track, stretch] = stretches[i - std::size(whole)];
    trees[track].walk(stretch);
  });
  for (TrackTree& of_track : trees) of_track.mark_outliving();
  link_ops(in, out_.ops_, out_.launches_, in_.threads);

  const auto note = [&](base::Note kind, std::uint64_t count, Row example) {
    if (count == 0) return;
    out_.log_.add(kind, out_.text_offset(example), out_.name_text(example), count);
  };
  for (const TrackTree& of_track : trees) {
    const TreeCounts& counts = of_track.counts();
    note(base::Note::kCalleeOutlivesCaller, counts.outliving, counts.first_outliving);
    note(base::Note::kOverlappingSpans, counts.overlapping, counts.first_overlapping);
  }
  note(base::Note::kWithoutLaunch, launches.without_launch, launches.first_without);
  note(base::Note::kSharedCorrelation, launches.shared, launches.first_shared);
  note(base::Note::kBeforeItsLaunch, launches.before, launches.first_before);
  out_.steps_ = steps ? std::move(*steps) : unnamed_steps(out_);
}

}  // namespace stepscope::trace
