#include "analysis/memory/owners/allocation_owners.h"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>

#include "analysis/host/module_tree.h"
#include "analysis/host/own_time.h"
#include "analysis/memory/owners/module_calls.h"
#include "analysis/memory/owners/open_at.h"
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

}  // namespace stepscope::analysis
