// The last part of TraceBuilder: what the tracks are, who called whom, what launched what.

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>

#include "base/parallel.h"
#include "trace/builder.h"
#include "trace/links.h"
#include "trace/step_finder.h"

namespace stepscope::trace {

void TraceBuilder::label_tracks() {
  std::multimap<std::string_view, Track*> of_process;
  for (Track& track : out_.tracks_) of_process.emplace(track.process, &track);
  for (const LabelRow& label : labels_) {
    Track& track = out_.tracks_[label.track];
    const std::string_view text = out_.text(label.text);
    if (label.what == LabelRow::What::kThreadName) track.thread_name = text;
    if (label.what == LabelRow::What::kThreadSort) track.thread_sort_index = label.number;
    const auto [from, to] = of_process.equal_range(track.process);
    for (auto at = from; at != to; ++at) {
      if (label.what == LabelRow::What::kProcessName) at->second->process_name = text;
      if (label.what == LabelRow::What::kProcessLabels) at->second->process_labels = text;
      if (label.what == LabelRow::What::kProcessSort) at->second->process_sort_index = label.number;
    }
  }
  for (Track& track : out_.tracks_) {
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

void TraceBuilder::link() {
  out_.parent_ = base::Column<Row>(out_.size(), memory_);
  const TreeColumns columns{out_.start(), out_.duration(),    out_.kind(),
                            out_.phase(), out_.flags_.span(), out_.parent_.span()};
  const LinkInput in{out_.start(),  out_.duration(), out_.kind(),   out_.track(),
                     out_.parent(), out_.tracks(),   &out_.strings_};
  // The longest track first, and what needs no call tree beside it.
  std::vector<std::uint32_t> tracks(out_.tracks_.size());
  std::iota(tracks.begin(), tracks.end(), 0);
  std::ranges::stable_sort(tracks, std::greater(), [&](std::uint32_t i) {
    return out_.tracks_[i].end - out_.tracks_[i].begin;
  });
  PythonRows python(python_);
  std::vector<TreeCounts> tree(out_.tracks_.size());
  LinkCounts launches;
  const auto call_tree = [&](std::uint32_t i) {
    const Track& track = out_.tracks_[i];
    const auto parents = out_.parent_.span().subspan(track.begin, track.end - track.begin);
    std::fill(parents.begin(), parents.end(), kNoRow);
    if (!track.is_device) tree[i] = link_calls(columns, track.begin, track.end, python);
  };
  constexpr std::size_t kOthers = 2;
  base::parallel_for(tracks.size() + kOthers, in_.threads, [&](std::size_t i) {
    if (i == 0 && !tracks.empty()) return call_tree(tracks[0]);
    const std::size_t other = tracks.empty() ? i : i - 1;
    if (other == 0) return link_backward(in, out_.ops_, out_.flows_, out_.backward_);
    if (other == 1) {
      launches = link_launches(in, out_.device_, out_.launches_);
      return;
    }
    call_tree(tracks[other - kOthers + 1]);
  });
  link_ops(in, out_.ops_, out_.launches_);

  const auto note = [&](base::Note kind, std::uint64_t count, Row example) {
    if (count == 0) return;
    out_.log_.add(kind, out_.text_offset(example), out_.name_text(example), count);
  };
  for (const TreeCounts& counts : tree) {
    note(base::Note::kCalleeOutlivesCaller, counts.outliving, counts.first_outliving);
    note(base::Note::kOverlappingSpans, counts.overlapping, counts.first_overlapping);
  }
  note(base::Note::kWithoutLaunch, launches.without_launch, launches.first_without);
  note(base::Note::kSharedCorrelation, launches.shared, launches.first_shared);
  note(base::Note::kBeforeItsLaunch, launches.before, launches.first_before);
  out_.steps_ = find_steps(out_, in_.step_pattern);
}

}  // namespace stepscope::trace
