#include "session/program/run_ending.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include <fmt/format.h>

#include "trace/process_record.h"

namespace stepscope::session {
namespace {

constexpr std::string_view kKilled = "was killed, or still runs";

// Empty where it ended by itself.
std::string bad_end_of(const trace::RankRecord& record) {
  if (record.finished == "stop" || record.finished == "exit") return {};
  if (record.finished.empty()) return std::string(kKilled);
  if (record.finished.starts_with("status ")) return fmt::format("ended with {}", record.finished);
  if (record.finished != "exception") return fmt::format("was ended by {}", record.finished);
  if (!record.error) return "ended by an exception";
  // The first line says it; what follows may be a page.
  const std::string text = record.error->text.substr(0, record.error->text.find('\n'));
  return fmt::format("ended by an exception in step {}: {}{}{}", record.error->step,
                     record.error->type, text.empty() ? "" : ": ", text);
}

// Ranks that recorded and left no other word: the recorder counts its cost when it stops.
bool is_cut(const trace::RankTraces& rank) {
  return std::ranges::any_of(rank.windows, [](const trace::Window& window) {
    const auto& record = window.trace.header().process_record;
    return record != nullptr && !record->is_worker && !record->cost;
  });
}

}  // namespace

std::string bad_end_of(const Recording& recording, const analysis::Selection& selection) {
  std::map<std::int32_t, std::string> ends;
  for (const trace::RankTraces& rank : recording.run.ranks) {
    if (is_cut(rank)) ends[rank.rank.value] = kKilled;
  }
  for (const trace::RankRecord& record : recording.rank_records) {
    ends[record.rank] = bad_end_of(record);
  }
  std::erase_if(ends, [&](const auto& end) {
    const bool chosen = selection.ranks.empty() ||
                        std::ranges::find(selection.ranks, end.first) != selection.ranks.end();
    return end.second.empty() || !chosen;
  });
  if (ends.empty()) return {};
  // Who fails ends the others: an exception is more likely the cause than a signal.
  const auto cause = std::ranges::max_element(
      ends, {}, [](const auto& end) { return end.second.starts_with("ended by an exception"); });
  const bool alone = recording.run.ranks.size() < 2 && recording.rank_records.size() < 2;
  std::string out =
      alone ? cause->second : fmt::format("(rank {}) {}", cause->first, cause->second);
  if (ends.size() > 1) {
    out += fmt::format("; {} more rank{} did not end by {} either", ends.size() - 1,
                       ends.size() == 2 ? "" : "s", ends.size() == 2 ? "itself" : "themselves");
  }
  return out;
}

}  // namespace stepscope::session
