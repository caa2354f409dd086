#include "session/timeline/event_details.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

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

  // Callees stand behind their caller; all that begin before it ends are looked at.
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

}  // namespace stepscope::session
