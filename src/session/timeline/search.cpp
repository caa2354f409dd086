#include "session/timeline/search.h"

#include <algorithm>
#include <map>
#include <queue>
#include <tuple>
#include <utility>

#include "base/ascii.h"

namespace stepscope::session {
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
