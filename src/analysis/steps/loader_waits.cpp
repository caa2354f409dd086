// Finds the ranges in which a loop waits for its data loader, and the threads that load.
#include "analysis/steps/loader_waits.h"

#include <algorithm>
#include <array>
#include <ranges>

#include "analysis/name_sign.h"

namespace stepscope::analysis {
namespace {

using trace::Kind;
using trace::Row;

bool is_plausible_span(const trace::Trace& trace, Row row) {
  return trace.phase()[row] == trace::Phase::kSpan && (trace.flags()[row] & trace::kFarTime) == 0;
}

// Of the rows after `fetch` on its thread that begin before it ends.
base::Nanos operators_within(const trace::Trace& trace, Row fetch, Row last) {
  Union operators;
  const base::Nanos end = trace.end(fetch);
  for (Row row = fetch + 1; row < last && trace.start()[row] < end; ++row) {
    if (trace.kind()[row] != Kind::kCpuOp || !is_plausible_span(trace, row)) continue;
    operators.add(trace.start()[row], std::min(trace.end(row), end));
  }
  return total(operators.set());
}

void add_loader_waits_fetches(const trace::Trace& trace, const trace::Track& track,
                              NameSign& loading, std::vector<Fetch>& out) {
  bool open = false;
  base::Nanos open_until = 0;
  for (Row row = track.begin; row < track.end; ++row) {
    if (trace.kind()[row] != Kind::kCpuOp && trace.kind()[row] != Kind::kAnnotation) continue;
    if (!loading.matches_row(row) || !is_plausible_span(trace, row)) continue;
    if (open && trace.end(row) <= open_until) continue;
    open = true;
    open_until = trace.end(row);
    out.push_back({.start = trace.start()[row],
                   .end = trace.end(row),
                   .name = trace.name()[row],
                   .operators = operators_within(trace, row, track.end)});
  }
}

// PyTorch names its worker processes and the thread that pins memory.
bool names_loading_thread(const trace::Track& track) {
  constexpr std::array<std::string_view, 4> kParts = {"pt_data_worker", "pt_data_pin", "pin_memory",
                                                      "DataLoader"};
  return std::ranges::any_of(kParts, [&](std::string_view part) {
    return track.thread_name.find(part) != std::string::npos ||
           track.process_name.find(part) != std::string::npos ||
           track.process_labels.find(part) != std::string::npos;
  });
}

}  // namespace

std::vector<Fetch> fetches(const trace::Trace& trace) {
  std::vector<Fetch> out;
  // Names are few, events many, and most traces have no loader.
  const auto names_loading = [&](std::size_t id) {
    return names_data_loading(trace.text(static_cast<base::StringId>(id)));
  };
  if (std::ranges::none_of(std::views::iota(std::size_t{0}, trace.strings().size()),
                           names_loading)) {
    return out;
  }
  NameSign loading(trace, names_data_loading);
  for (const trace::Track& track : trace.tracks()) {
    if (!track.is_device) add_loader_waits_fetches(trace, track, loading, out);
  }
  std::ranges::stable_sort(out, {}, &Fetch::start);
  return out;
}

std::string loader_name(std::string_view range) {
  if (const std::size_t at = range.find('#'); at != std::string_view::npos) {
    range.remove_prefix(at + 1);
    constexpr std::string_view kCall = ".__next__";
    if (range.ends_with(kCall)) range.remove_suffix(kCall.size());
  }
  return std::string(range);
}

std::vector<LoadingThread> loading_threads(const trace::Trace& trace) {
  std::vector<LoadingThread> out;
  for (const trace::Track& track : trace.tracks()) {
    if (track.is_device || !names_loading_thread(track)) continue;
    Union active;
    for (Row row = track.begin; row < track.end; ++row) {
      if (trace.kind()[row] == Kind::kOverhead || trace.kind()[row] == Kind::kProfiler) continue;
      if (is_plausible_span(trace, row)) active.add(trace.start()[row], trace.end(row));
    }
    const std::string& name = track.thread_name.empty() ? track.process_name : track.thread_name;
    out.push_back({track.process, track.thread, name, active.take()});
  }
  return out;
}

}  // namespace stepscope::analysis
