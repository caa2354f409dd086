// Metadata of Chrome's format: names and order of processes and threads.
#include "emit/chrome/chrome_labels.h"

#include <algorithm>
#include <limits>
#include <map>

#include "emit/chrome/chrome_event.h"
#include "emit/json/json_text.h"

namespace stepscope::emit {
namespace {

struct ProcessLabel {
  std::string_view name, key;
  std::string value;
};

std::string quoted(std::string_view text) {
  std::string json;
  append_string(json, text);
  return json;
}

std::vector<ProcessLabel> labels_of(const trace::Track& track, const Texts& texts) {
  std::vector<ProcessLabel> labels;
  if (!track.process_name.empty()) {
    labels.push_back({"process_name", "name", quoted(texts.plain(track.process_name))});
  }
  if (!track.process_labels.empty()) {
    labels.push_back({"process_labels", "labels", quoted(texts.plain(track.process_labels))});
  }
  if (track.process_sort_index) {
    labels.push_back(
        {"process_sort_index", "sort_index", std::to_string(*track.process_sort_index)});
  }
  return labels;
}

bool has_label(const trace::Track& track) {
  return !track.thread_name.empty() || track.thread_sort_index;
}

// How tracks have to be named that no event names in time: nothing stands on them, or the first
// event of a track that comes after them stands before theirs. In the original a label named them,
// or an event that left no row.
std::vector<Naming> naming_of(const trace::Trace& trace) {
  constexpr std::uint32_t kNever = std::numeric_limits<std::uint32_t>::max();
  std::vector<std::uint32_t> first(trace.tracks().size(), kNever);
  for (trace::Row row = 0; row < trace.size(); ++row) {
    std::uint32_t& at = first[trace.track()[row]];
    at = std::min(at, trace.ordinal()[row]);
  }
  for (std::size_t i = 0; i < trace.flows().size(); ++i) {
    std::uint32_t& at = first[trace.flows().track[i]];
    at = std::min(at, trace.flows().ordinal[i]);
  }
  std::vector<Naming> naming(first.size(), Naming::kByItself);
  std::uint32_t first_of_later = kNever;
  for (std::size_t i = first.size(); i-- > 0;) {
    if (first[i] == kNever || first_of_later < first[i]) {
      naming[i] = first_of_later == kNever ? Naming::kAnyTime : Naming::kBeforeOthers;
    }
    first_of_later = std::min(first_of_later, first[i]);
  }
  return naming;
}

}  // namespace

ChromeLabels::ChromeLabels(const trace::Trace& trace, const Texts& texts)
    : trace_(trace), texts_(texts) {
  std::map<std::string_view, std::vector<std::uint32_t>> processes;
  for (std::uint32_t i = 0; i < trace.tracks().size(); ++i) {
    processes[trace.tracks()[i].process].push_back(i);
    add_thread_labels(i);
  }
  std::vector<Naming> naming = naming_of(trace);
  for (std::uint32_t i = 0; i < naming.size(); ++i) {
    if (naming[i] == Naming::kBeforeOthers) hurry_ = i + 1;
    if (has_label(trace.tracks()[i])) naming[i] = Naming::kByItself;
  }
  for (const auto& [process, tracks] : processes) add_process_labels(tracks, naming);
  std::stable_sort(labels_.begin(), labels_.end(),
                   [](const Label& a, const Label& b) { return a.track < b.track; });
}

void ChromeLabels::add_process_labels(const std::vector<std::uint32_t>& tracks,
                                      const std::vector<Naming>& naming) {
  std::vector<std::uint32_t> carriers;
  std::copy_if(tracks.begin(), tracks.end(), std::back_inserter(carriers),
               [&](std::uint32_t track) { return naming[track] != Naming::kByItself; });
  const std::vector<ProcessLabel> labels = labels_of(trace_.tracks()[tracks[0]], texts_);
  if (carriers.empty()) carriers.push_back(tracks[0]);
  for (std::size_t i = 0; i < std::max(labels.size(), carriers.size()); ++i) {
    const std::uint32_t track = carriers[std::min(i, carriers.size() - 1)];
    if (!labels.empty()) {
      const ProcessLabel& label = labels[i % labels.size()];
      add(track, label.name, label.key, label.value);
    } else if (naming[track] != Naming::kByItself) {
      add(track, "thread_name", "name", "\"\"");  // says nothing but that there is such a thread
      labels_.back().naming = naming[track];
    }
  }
}

void ChromeLabels::add_thread_labels(std::uint32_t track) {
  const trace::Track& of = trace_.tracks()[track];
  if (!of.thread_name.empty()) {
    add(track, "thread_name", "name", quoted(texts_.plain(of.thread_name)));
  }
  if (of.thread_sort_index) {
    add(track, "thread_sort_index", "sort_index", std::to_string(*of.thread_sort_index));
  }
}

void ChromeLabels::add(std::uint32_t track, std::string_view name, std::string_view key,
                       const std::string& value) {
  std::string json;
  Members members(json);
  members.text("ph", "M");
  members.text("name", name);
  append_track(members.next(), texts_, trace_.tracks()[track]);
  Members args(members.key("args"));
  args.key(key) += value;
  args.close();
  members.close();
  labels_.push_back({track, std::move(json), Naming::kByItself, false});
}

void ChromeLabels::append_filler(std::string& out) {
  if (Label* const label = next()) {
    out += label->json;
    take(*label);
  } else {
    out += R"({"ph":"M","name":"stepscope_gap"})";
  }
}

ChromeLabels::Label* ChromeLabels::next() {
  if (introduced_ < hurry_) {
    const auto of_next = std::lower_bound(
        labels_.begin(), labels_.end(), introduced_,
        [](const Label& label, std::uint32_t track) { return label.track < track; });
    if (of_next != labels_.end() && of_next->track == introduced_) return &*of_next;
  }
  if (empty() || labels_[oldest_].track > introduced_) return nullptr;
  return &labels_[oldest_];
}

bool ChromeLabels::must_introduce() {
  const Label* const label = next();
  return label != nullptr && label->track == introduced_ && introduced_ < hurry_;
}

const trace::Track* ChromeLabels::take_introduction(const std::string* process) {
  Label* const label = next();
  if (label == nullptr || label->naming == Naming::kByItself) return nullptr;
  const trace::Track* const of = &trace_.tracks()[label->track];
  if (process != nullptr && of->process != *process) return nullptr;
  take(*label);
  return of;
}

void ChromeLabels::take(Label& label) {
  saw(label.track);
  label.is_out = true;
  while (!empty() && labels_[oldest_].is_out) ++oldest_;
}

}  // namespace stepscope::emit
