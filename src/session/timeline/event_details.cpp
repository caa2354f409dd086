// Details of one event with its links, and the search for events by name.
#include "session/timeline/event_details.h"

#include <algorithm>
#include <map>
#include <queue>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/ascii.h"

namespace stepscope::session {

namespace {

using trace::kNoRow;
using trace::Row;
using trace::Trace;

constexpr std::size_t kMostCallers = 1000;

class Linker {
 public:
  Linker(const Timeline& timeline, const TimelineWindow& window)
      : timeline_(&timeline), window_(&window), trace_(window.trace) {}

  EventCard card(Row row) const { return card_of(*timeline_, *window_, row); }
  std::optional<EventCard> card_if(Row row) const {
    return row == kNoRow ? std::nullopt : std::optional(card(row));
  }
  void add(LinkedEvents& list, Row row) const {
    if (list.count++ < kMostLinks) list.first.push_back(card(row));
  }

  Row launch_of(Row row) const {
    const std::uint32_t entry = trace_->device().rows.find(row);
    return entry == base::RowSet::kNone ? kNoRow : trace_->device().launch[entry];
  }
  Row operation_of_call(Row call) const {
    const std::uint32_t entry = trace_->launches().rows.find(call);
    return entry == base::RowSet::kNone ? kNoRow : trace_->launches().op[entry];
  }

  // Callees stand after their caller; all that begin before it ends are looked at.
  void add_children(EventDetails& out, Row row) const {
    const trace::Track& track = trace_->tracks()[trace_->track()[row]];
    const base::Nanos end = trace_->end(row);
    base::Nanos inside = 0;
    for (Row next = row + 1; next < track.end && trace_->start()[next] <= end; ++next) {
      if (trace_->parent()[next] != row) continue;
      if (trace_->kind()[next] == trace::Kind::kMemory) continue;
      add(out.children, next);
      inside += std::min(trace_->end(next), end) - trace_->start()[next];
    }
    if (!track.is_device && trace_->phase()[row] == trace::Phase::kSpan) {
      out.self = trace_->duration()[row] - inside;
    }
  }

  // Of a call, or of all calls within a span of the host.
  void add_work(LinkedEvents& list, Row row) const {
    const trace::LaunchTable& launches = trace_->launches();
    const trace::Track& track = trace_->tracks()[trace_->track()[row]];
    if (track.is_device) return;
    const base::Nanos end = trace_->end(row);
    for (Row next = row; next < track.end && trace_->start()[next] <= end; ++next) {
      const std::uint32_t entry = launches.rows.find(next);
      if (entry == base::RowSet::kNone || trace_->end(next) > end) continue;
      for (const Row work : launches.work_of(entry)) add(list, work);
    }
  }

  void add_backward(EventDetails& out, Row row) const {
    const trace::BackwardTable& backward = trace_->backward();
    if (const std::uint32_t entry = backward.rows.find(row); entry != base::RowSet::kNone) {
      out.forward = card_if(backward.forward[entry]);
    }
    backward.rows.for_each([&](Row later, std::uint32_t entry) {
      if (backward.forward[entry] == row) add(out.backward, later);
    });
  }

  void add_callers(EventDetails& out, Row row) const {
    out.parent = card_if(trace_->parent()[row]);
    for (Row at = trace_->parent()[row]; at != kNoRow && out.callers.size() < kMostCallers;
         at = trace_->parent()[at]) {
      out.callers.push_back(card(at));
    }
    const std::uint32_t entry = trace_->stacks().rows.find(row);
    if (entry == base::RowSet::kNone) return;
    const base::StringId module = trace_->stacks().module_hierarchy[entry];
    if (module != base::kNoString) out.module = trace_->text(module);
    const base::StringId stack = trace_->stacks().call_stack[entry];
    if (stack == base::kNoString) return;
    std::string_view left = trace_->text(stack);
    while (!left.empty()) {
      const std::size_t end = std::min(left.find(';'), left.size());
      out.call_stack.emplace_back(left.substr(0, end));
      left.remove_prefix(std::min(end + 1, left.size()));
    }
  }

 private:
  const Timeline* timeline_;
  const TimelineWindow* window_;
  const Trace* trace_;
};

std::optional<std::int64_t> step_of(const Study& study, const TimelineWindow& window, Row row) {
  for (const analysis::WindowView& view : study.view().windows) {
    if (view.trace != window.trace || !view.has_steps) continue;
    const auto piece = std::ranges::find(view.work, row, &analysis::Work::row);
    const std::int32_t step = piece != view.work.end()
                                  ? piece->step
                                  : analysis::step_at(view.steps, view.trace->start()[row]);
    if (step >= 0) return view.steps[static_cast<std::size_t>(step)].number;
  }
  return std::nullopt;
}

}  // namespace

base::Result<EventDetails> event_details(const Timeline& timeline, const Study& study,
                                         const trace::EventRef& event) {
  const TimelineWindow* window = timeline.window(event.rank.value, event.window);
  if (window == nullptr) {
    return base::fail(base::Code::kNotFound,
                      fmt::format("rank {} has no window {}", event.rank.value, event.window));
  }
  const Trace& trace = *window->trace;
  const auto found = std::ranges::find(trace.ordinal(), event.ordinal);
  if (found == trace.ordinal().end()) {
    return base::fail(base::Code::kNotFound,
                      fmt::format("rank {}, window {}: entry {} of the file is no event",
                                  event.rank.value, event.window, event.ordinal));
  }
  const Row row = static_cast<Row>(found - trace.ordinal().begin());
  const Linker linker(timeline, *window);
  EventDetails out;
  out.event = linker.card(row);
  out.step = step_of(study, *window, row);
  if (auto text = trace.event_text(row)) {
    out.text = *std::move(text);
  } else {
    out.text_lost = text.error().message;
  }
  linker.add_callers(out, row);
  linker.add_children(out, row);
  linker.add_work(out.work, row);
  linker.add_backward(out, row);
  const Row launch = linker.launch_of(row);
  out.launch = linker.card_if(launch);
  out.operation = linker.card_if(linker.operation_of_call(launch == kNoRow ? row : launch));
  return out;
}

namespace {

using base::Nanos;
using trace::Row;

constexpr std::size_t kMostNames = 50;

bool contains(std::string_view name, std::string_view needle) {
  const auto same = [](char a, char b) { return base::lowered(a) == b; };
  return needle.empty() || !std::ranges::search(name, needle, same).empty();
}

// Which texts of a trace contain it: each is looked at once, however many events have it.
std::vector<bool> matching_names(const trace::Trace& trace, std::string_view needle) {
  std::vector<bool> matches(trace.strings().size());
  for (base::StringId id = 0; id < matches.size(); ++id) {
    matches[id] = contains(trace.text(id), needle);
  }
  return matches;
}

struct Hit {
  Nanos start;
  std::size_t window;
  Row row;
  auto operator<=>(const Hit&) const = default;
};

}  // namespace

SearchHits search(const Timeline& timeline, const SearchRequest& request) {
  const std::string needle = base::lowered(request.text);
  std::priority_queue<Hit> earliest;  // the latest of them on top
  std::map<std::string_view, FoundName> names;
  SearchHits out;
  for (std::size_t w = 0; w < timeline.windows.size(); ++w) {
    const TimelineWindow& window = timeline.windows[w];
    if (!request.ranks.empty() &&
        std::ranges::find(request.ranks, window.rank) == request.ranks.end()) {
      continue;
    }
    const trace::Trace& trace = *window.trace;
    const std::vector<bool> matches = matching_names(trace, needle);
    std::vector<FoundName> by_id(matches.size());
    for (Row row = 0; row < trace.size(); ++row) {
      const base::StringId name = trace.name()[row];
      if (name >= matches.size() || !matches[name]) continue;
      if (trace.phase()[row] == trace::Phase::kCounter ||
          trace.kind()[row] == trace::Kind::kMemory ||
          (trace.flags()[row] & trace::kFarTime) != 0) {
        continue;
      }
      const Nanos start = trace.start()[row] + window.offset;
      if (start < request.from) continue;
      ++out.count;
      ++by_id[name].count;
      by_id[name].total += trace.duration()[row];
      const Hit hit{start, w, row};
      if (earliest.size() < request.limit) {
        earliest.push(hit);
      } else if (request.limit > 0 && hit < earliest.top()) {
        earliest.pop();
        earliest.push(hit);
      }
    }
    for (base::StringId id = 0; id < by_id.size(); ++id) {
      if (by_id[id].count == 0) continue;
      FoundName& sum = names[trace.text(id)];
      sum.count += by_id[id].count;
      sum.total += by_id[id].total;
    }
  }
  for (auto& [name, sum] : names) out.names.push_back({std::string(name), sum.count, sum.total});
  std::ranges::stable_sort(out.names, [](const FoundName& a, const FoundName& b) {
    return std::tuple(-a.total, a.name) < std::tuple(-b.total, b.name);
  });
  if (out.names.size() > kMostNames) out.names.resize(kMostNames);
  std::vector<Hit> hits;
  for (; !earliest.empty(); earliest.pop()) hits.push_back(earliest.top());
  for (const Hit& hit : hits) {
    out.hits.push_back(card_of(timeline, timeline.windows[hit.window], hit.row));
  }
  std::ranges::reverse(out.hits);
  return out;
}

}  // namespace stepscope::session
