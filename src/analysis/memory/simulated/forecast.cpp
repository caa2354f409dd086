// Forecasts what other settings of the allocator would have done with the recorded requests.
#include "analysis/memory/simulated/forecast.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/parallel.h"

namespace stepscope::analysis {
namespace {

using allocator::kMiB;
using allocator::Rules;

struct ForecastCandidate {
  std::string setting;
  Rules rules;
  bool changes_split_size = false;
};

std::vector<ForecastCandidate> candidates(const Rules& recorded, bool can_collect) {
  std::vector<ForecastCandidate> list;
  const auto add = [&](std::string setting, auto change) {
    Rules rules = recorded;
    change(rules);
    list.push_back({std::move(setting), rules, rules.max_split_size != recorded.max_split_size});
  };
  if (recorded.expandable_segments) {
    add("expandable_segments:False", [](Rules& rules) { rules.expandable_segments = false; });
  } else {
    add("expandable_segments:True", [](Rules& rules) { rules.expandable_segments = true; });
  }
  for (const base::Bytes mib : {64, 128, 256, 512}) {
    if (recorded.max_split_size == mib * kMiB) continue;
    add(fmt::format("max_split_size_mb:{}", mib),
        [&](Rules& rules) { rules.max_split_size = mib * kMiB; });
  }
  for (const std::int64_t divisions : {4, 8, 16}) {
    Rules rules = recorded;
    rules.divisions.fill(divisions);
    if (rules.divisions == recorded.divisions) continue;
    list.push_back({fmt::format("roundup_power2_divisions:{}", divisions), rules});
  }
  if (can_collect) {
    for (const double share : {0.6, 0.8}) {
      if (recorded.collect_above == share) continue;
      add(fmt::format("garbage_collection_threshold:{}", share),
          [&](Rules& rules) { rules.collect_above = share; });
    }
  }
  return list;
}

}  // namespace

std::string_view name_of(Fits fits) {
  switch (fits) {
    case Fits::kYes:
      return "yes";
    case Fits::kPerhaps:
      return "perhaps";
    case Fits::kNo:
      break;
  }
  return "no";
}

namespace {

// Those that differ in the split size alone stand together, as one's outcome may be the others'
// too; with a thread for each they need not wait for each other.
std::vector<std::vector<std::size_t>> forecast_groups_of(const std::vector<ForecastCandidate>& all,
                                                         unsigned threads) {
  std::vector<std::vector<std::size_t>> groups(1);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].changes_split_size && threads < all.size()) {
      groups.front().push_back(i);
    } else {
      groups.push_back({i});
    }
  }
  return groups;
}

Forecasts make_forecasts(const HistoryWork& work, std::optional<base::Bytes> device_bytes,
                         unsigned threads) {
  Forecasts out;
  const memory::History& history = *work.history;
  const Requests requests = requests_of(history, work.allocations, work.replay);
  out.reproduction = reproduce(requests);
  out.limit = limit_seen(history, work.replay);
  out.least_possible = least_possible(requests, work.replay.rules);
  if (!out.reproduction.is_same) return out;
  std::optional<base::Bytes> limit = device_bytes;
  if (out.limit) limit = out.limit->at_most;
  const std::vector<ForecastCandidate> all = candidates(work.replay.rules, limit.has_value());
  out.list.resize(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) out.list[i].setting = all[i].setting;
  const std::vector<std::vector<std::size_t>> groups = forecast_groups_of(all, threads);
  base::parallel_for(groups.size(), threads, [&](std::size_t group) {
    std::vector<std::size_t> left = groups[group];
    while (!left.empty()) {
      std::vector<base::Bytes> sizes;
      sizes.reserve(left.size());
      for (const std::size_t i : left) sizes.push_back(all[i].rules.max_split_size);
      const Simulated result = simulate(requests, all[left.front()].rules, limit, sizes);
      const std::size_t first = left.front();
      std::erase_if(left, [&](std::size_t i) {
        const bool is_same = i == first || std::ranges::count(result.same_split_sizes,
                                                              all[i].rules.max_split_size) > 0;
        if (is_same) out.list[i].result = result;
        return is_same;
      });
    }
    for (const std::size_t i : groups[group]) {
      // What more memory does not serve, less does not either.
      if (out.list[i].result.ooms_served == 0 || !out.limit) continue;
      out.list[i].ooms_served_surely =
          simulate(requests, all[i].rules, out.limit->at_least).ooms_served;
    }
  });
  return out;
}

}  // namespace

std::shared_ptr<const Forecasts> forecasts(const HistoryWork& work,
                                           std::optional<base::Bytes> device_bytes,
                                           unsigned threads) {
  const bool needs_size = device_bytes && !limit_seen(*work.history, work.replay);
  if (needs_size) {
    return std::make_shared<const Forecasts>(make_forecasts(work, device_bytes, threads));
  }
  return work.forecasts->shared([&] { return make_forecasts(work, std::nullopt, threads); });
}

std::string settings_text(const Rules& rules) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ",") + part; };
  const Rules standard;
  if (rules.expandable_segments) add("expandable_segments:True");
  if (rules.max_split_size != standard.max_split_size) {
    add(fmt::format("max_split_size_mb:{}", rules.max_split_size / kMiB));
  }
  if (rules.divisions != standard.divisions) {
    const bool same = std::ranges::adjacent_find(rules.divisions, std::ranges::not_equal_to{}) ==
                      rules.divisions.end();
    add(same ? fmt::format("roundup_power2_divisions:{}", rules.divisions[0])
             : std::string("roundup_power2_divisions:[by size]"));
  }
  if (rules.collect_above > 0) {
    add(fmt::format("garbage_collection_threshold:{}", rules.collect_above));
  }
  if (rules.large_segment != standard.large_segment) {
    add(fmt::format("large_segment_size_mb:{}", rules.large_segment / kMiB));
  }
  return text.empty() ? "torch's own" : text;
}

}  // namespace stepscope::analysis
