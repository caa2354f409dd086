// Finds the annotation and the nn.Module that each allocation was made in.
#include "analysis/memory/owners/allocation_owners.h"

#include <algorithm>
#include <map>
#include <optional>
#include <queue>
#include <tuple>
#include <unordered_map>

#include <fmt/format.h>

#include "analysis/host/module_tree.h"
#include "analysis/host/own_time.h"
#include "analysis/memory/owners/representative_frame.h"
#include "trace/step_names.h"

namespace stepscope::analysis {
namespace {

using trace::Row;

class AllocationOwnersNames {
 public:
  explicit AllocationOwnersNames(std::vector<std::string>& list) : list_(list) {}
  std::uint32_t id(std::string_view name) {
    const auto [found, is_new] =
        ids_.try_emplace(std::string(name), static_cast<std::uint32_t>(list_.size()));
    if (is_new) list_.emplace_back(name);
    return found->second;
  }

 private:
  std::vector<std::string>& list_;
  std::unordered_map<std::string, std::uint32_t> ids_;
};

bool has_times(const HistoryWork& work) {
  return work.history->length() > 0 && work.history->time[0] != memory::kNoTime;
}

// Traces of the snapshot's rank on its clock that were recorded at the same time.
std::vector<const WindowView*> traces_beside(const RunView& run, const SnapshotView& view,
                                             const HistoryWork& work) {
  std::vector<const WindowView*> found;
  if (!has_times(work)) return found;
  const auto times = work.history->time.span();
  for (const WindowView& window : run.windows) {
    if (window.rank != view.rank || !window.trace->clock().base_known) continue;
    const base::Nanos zero = window.trace->clock().zero_unix_ns();
    const bool apart = window.trace->span().end + zero < times.front() ||
                       window.trace->span().start + zero > times.back();
    if (!apart) found.push_back(&window);
  }
  return found;
}

std::vector<NamedSpan> spans_of_snapshot(const memory::Snapshot& snapshot,
                                         const memory::History& history,
                                         AllocationOwnersNames& names) {
  std::vector<NamedSpan> spans;
  std::map<base::StringId, std::vector<base::Nanos>> open;
  const base::Nanos last = history.length() == 0 ? 0 : history.time[history.length() - 1];
  for (const memory::Annotation& annotation : snapshot.annotations) {
    if (annotation.time == memory::kNoTime || annotation.device != history.device) continue;
    const std::string_view name = snapshot.text(annotation.name);
    if (trace::names_a_step(name)) continue;
    std::vector<base::Nanos>& starts = open[annotation.name];
    if (annotation.is_start) {
      starts.push_back(annotation.time);
    } else if (!starts.empty()) {
      spans.push_back({starts.back(), annotation.time, names.id(name)});
      starts.pop_back();
    }
  }
  for (const auto& [name, starts] : open) {  // still open when the snapshot was taken
    for (const base::Nanos start : starts) {
      spans.push_back({start, std::max(last, start) + 1, names.id(snapshot.text(name))});
    }
  }
  return spans;
}

std::vector<NamedSpan> spans_of_traces(std::span<const WindowView* const> windows,
                                       AllocationOwnersNames& names) {
  std::vector<NamedSpan> spans;
  for (const WindowView* window : windows) {
    const trace::Trace& trace = *window->trace;
    for (Row row = 0; row < trace.size(); ++row) {
      if (trace.kind()[row] != trace::Kind::kAnnotation || !OwnTime::is_span(trace, row)) continue;
      const std::string_view name = trace.text(trace.name()[row]);
      if (trace::names_a_step(name)) continue;
      const base::Nanos zero = window->trace->clock().zero_unix_ns();
      spans.push_back({trace.start()[row] + zero, trace.end(row) + zero, names.id(name)});
    }
  }
  return spans;
}

std::vector<std::uint32_t> owners_in_time(const HistoryWork& work, const OpenAt& open) {
  std::vector<std::uint32_t> owners;
  owners.reserve(work.allocations.list.size());
  for (const Allocation& life : work.allocations.list) {
    owners.push_back(life.is_older() ? Owners::kNobody : open.at(work.history->time[life.alloc]));
  }
  return owners;
}

std::optional<ModuleSource> source_in(const WindowView& window) {
  for (const ModuleSource source :
       {ModuleSource::kPython, ModuleSource::kHierarchy, ModuleSource::kLightning}) {
    if (names_modules(*window.trace, source)) return source;
  }
  return std::nullopt;
}

std::vector<std::string> paths_of(const ModuleTree& tree, std::size_t depth) {
  std::vector<std::string> paths(tree.nodes().size());
  for (std::size_t n = 1; n < paths.size(); ++n) {
    const ModuleNode& node = tree.nodes()[n];
    const std::string& above = paths[node.parent];
    const bool too_deep = depth != 0 && node.depth > depth;
    paths[n] = too_deep ? above : above.empty() ? node.name.name : above + "." + node.name.name;
  }
  return paths;
}

// Where the module changes from a span to one inside it, the inner begins.
void add_module_spans(const WindowView& window, ModuleSource source, std::size_t depth,
                      AllocationOwnersNames& names, std::vector<NamedSpan>& spans) {
  const trace::Trace& trace = *window.trace;
  const OwnTime times(window);
  const ModuleTree tree(window, times, source);
  const std::vector<std::string> paths = paths_of(tree, depth);
  const base::Nanos zero = window.trace->clock().zero_unix_ns();
  for (const trace::Track& track : trace.tracks()) {
    if (track.is_device) continue;
    for (Row row = track.begin; row < track.end; ++row) {
      if (!OwnTime::is_span(trace, row)) continue;
      const Row parent = times.parent(row);
      const std::uint32_t around = parent == trace::kNoRow ? ModuleTree::kRoot : tree.node(parent);
      const std::uint32_t node = tree.node(row);
      if (node == around || node == ModuleTree::kRoot) continue;
      spans.push_back({trace.start()[row] + zero, trace.end(row) + zero, names.id(paths[node])});
    }
  }
}

}  // namespace

Owners annotation_owners(const RunView& run, const SnapshotView& view, const HistoryWork& work) {
  Owners owners;
  AllocationOwnersNames names(owners.names);
  std::vector<NamedSpan> spans;
  if (has_times(work)) spans = spans_of_snapshot(*view.snapshot, *work.history, names);
  owners.from = "the snapshot";
  if (spans.empty()) {
    spans = spans_of_traces(traces_beside(run, view, work), names);
    owners.from = spans.empty() ? "" : "the trace";
  }
  owners.of_allocation = owners_in_time(work, OpenAt(std::move(spans)));
  return owners;
}

Owners module_owners(const RunView& run, const SnapshotView& view, const HistoryWork& work,
                     std::size_t depth) {
  Owners owners;
  AllocationOwnersNames names(owners.names);
  std::vector<NamedSpan> spans;
  for (const WindowView* window : traces_beside(run, view, work)) {
    if (const auto source = source_in(*window)) {
      add_module_spans(*window, *source, depth, names, spans);
    }
  }
  if (!spans.empty()) {
    owners.from = "the trace";
    owners.of_allocation = owners_in_time(work, OpenAt(std::move(spans)));
    return owners;
  }
  ModuleCalls calls(*view.snapshot, depth);
  for (const Allocation& life : work.allocations.list) {
    std::string_view path = calls.path(life.stack);
    // The backward pass has no modules on its stack; newer torch keeps the forward call's.
    if (path.empty() && !life.is_older()) path = calls.path(work.history->forward[life.alloc]);
    owners.of_allocation.push_back(path.empty() ? Owners::kNobody : names.id(path));
  }
  owners.from = owners.names.empty() ? "" : "stacks";
  return owners;
}

OpenAt::OpenAt(std::vector<NamedSpan> spans) {
  std::ranges::sort(spans, [](const NamedSpan& a, const NamedSpan& b) {
    return std::tuple(a.start, b.end, a.name) < std::tuple(b.start, a.end, b.name);
  });
  std::vector<base::Nanos> times;
  times.reserve(2 * spans.size());
  for (const NamedSpan& span : spans) {
    times.push_back(span.start);
    times.push_back(span.end);
  }
  std::ranges::sort(times);
  const auto twins = std::ranges::unique(times);
  times.erase(twins.begin(), twins.end());
  std::priority_queue<std::size_t> open;  // the last begun first
  std::size_t next = 0;
  for (const base::Nanos time : times) {
    for (; next < spans.size() && spans[next].start <= time; ++next) open.push(next);
    while (!open.empty() && spans[open.top()].end <= time) open.pop();
    const std::uint32_t name = open.empty() ? kNothing : spans[open.top()].name;
    if (changes_.empty() || changes_.back().name != name) changes_.push_back({time, name});
  }
}

std::uint32_t OpenAt::at(base::Nanos time) const {
  const auto after = std::ranges::upper_bound(changes_, time, {}, &Change::time);
  return after == changes_.begin() ? kNothing : std::prev(after)->name;
}

namespace {

constexpr std::string_view kModuleFolder = "/torch/nn/modules/";

// Module.__call__ in its parts.
bool is_call_in_module_calls(std::string_view name, std::string_view file) {
  return (name == "_call_impl" || name == "_wrapped_call_impl") && file.ends_with("/module.py") &&
         file.find(kModuleFolder) != std::string_view::npos;
}

}  // namespace

ModuleCalls::ModuleCalls(const memory::Snapshot& snapshot, std::size_t depth)
    : snapshot_(snapshot), depth_(depth), paths_(snapshot.stacks.size()) {}

std::string_view ModuleCalls::path(memory::StackId stack) {
  if (stack >= paths_.size()) return {};
  std::optional<std::string>& known = paths_[stack];
  if (!known) known = work_out(stack);
  return *known;
}

std::string ModuleCalls::work_out(memory::StackId stack) const {
  std::string path;
  std::size_t levels = 0;
  const memory::Frame* caller = nullptr;  // the frame around, if it is Python
  bool called = false;                    // the frame around is Module.__call__
  const auto frames = snapshot_.stacks[stack];
  if (is_place(snapshot_, stack)) return place_text(snapshot_, stack, depth_);
  for (std::size_t i = frames.size(); i-- > 0;) {
    const memory::Frame& frame = snapshot_.stacks.frame(frames[i]);
    const std::string_view file = snapshot_.text(frame.file);
    const FrameOrigin origin = origin_of(file);
    if (origin == FrameOrigin::kCompiled) continue;
    const bool calls = is_call_in_module_calls(snapshot_.text(frame.name), file);
    const bool room = depth_ == 0 || levels < depth_;
    // A container calls all of its modules in one line: that line tells nothing.
    if (calls && !called && room && caller != nullptr) {
      const std::string_view from = snapshot_.text(caller->file);
      if (origin_of(from) != FrameOrigin::kTorch) {
        path += fmt::format("{}{}:{}", path.empty() ? "" : " / ", base_name(from), caller->line);
        ++levels;
      }
    }
    if (called && !calls && room && !path.empty()) {
      const std::size_t at = file.find(kModuleFolder);
      std::string_view own = base_name(file);
      if (at != std::string_view::npos && own != "container.py") {
        own = own.substr(0, own.rfind('.'));
        path += fmt::format(" / {}", own);
        ++levels;
      }
    }
    called = calls;
    caller = &frame;
  }
  return path;
}

}  // namespace stepscope::analysis
