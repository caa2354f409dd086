#include "analysis/memory/stats_summary.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "analysis/memory/snapshot_remarks.h"
#include "analysis/memory/summary_tables.h"
#include "memory/stats.h"

namespace stepscope::analysis {
namespace {

using allocator::Figure;
using allocator::Part;
using base::Null;

struct Facet {
  std::string_view key;
  std::int64_t Figure::* value;
};
constexpr std::array kFacets = {Facet{"current", &Figure::current}, Facet{"peak", &Figure::peak},
                                Facet{"allocated", &Figure::allocated},
                                Facet{"freed", &Figure::freed}};

std::string stats_summary_key_of(std::string_view stat, std::string_view part,
                                 std::string_view facet) {
  return fmt::format("{}.{}.{}", stat, part, facet);
}

void add_stats_summary_row(base::Table& table, const StatsView& view, std::string_view name,
                           std::string_view pool, std::string_view prefix) {
  std::array<std::optional<std::int64_t>, kFacets.size()> found;
  for (std::size_t i = 0; i < kFacets.size(); ++i) {
    found[i] = view.stats->find(fmt::format("{}.{}", prefix, kFacets[i].key));
  }
  if (std::ranges::none_of(found, [](const auto& value) { return value.has_value(); })) return;
  table.add({view.rank, view.label, Null{}, name, pool, found[0], found[1], found[2], found[3]});
}

void add_stats_summary_figures(base::Table& table, const StatsView& view,
                               std::span<const NamedStat> stats) {
  for (const NamedStat& named : stats) {
    for (std::size_t part = 0; part < kPoolNames.size(); ++part) {
      add_stats_summary_row(
          table, view, named.name, kPoolNames[part],
          fmt::format("{}.{}", name_of(named.stat), name_of(static_cast<Part>(part))));
    }
  }
}

void add_stats_summary_device(base::Table& table, const StatsView& view) {
  const auto find = [&](std::string_view key) { return view.stats->find(key); };
  table.add({view.rank, view.label, Null{}, find("allocated_bytes.all.peak"), Null{}, Null{},
             Null{}, find("allocated_bytes.all.current"), find("reserved_bytes.all.peak"), Null{},
             find("reserved_bytes.all.current"), Null{}, Null{}, Null{}, Null{}, Null{}, Null{},
             find("num_ooms"), find("num_alloc_retries")});
}

// "run1.pickle.gz" and "run1.stats.json" → "run1".
std::string_view stem_of(std::string_view label) {
  label = label.substr(label.rfind('/') + 1);
  return label.substr(0, label.find('.'));
}

// The snapshots that may be of the process the figures are of: of its rank, and where there are
// several, of its name.
std::vector<const SnapshotView*> snapshots_beside(const RunView& view, const StatsView& stats) {
  std::vector<const SnapshotView*> found;
  for (const SnapshotView& snapshot : view.snapshots) {
    if (snapshot.rank == stats.rank) found.push_back(&snapshot);
  }
  if (found.size() < 2) return found;
  std::erase_if(found, [&](const SnapshotView* snapshot) {
    return stem_of(snapshot->label) != stem_of(stats.label);
  });
  return found;
}

struct Agreement {
  std::size_t compared = 0, equal = 0;
  std::string first;  // that differs
};

void compare(base::Table& table, const SnapshotView& snapshot, const HistoryWork& work,
             const StatsView& stats, bool is_whole, Agreement& agreement) {
  const auto add = [&](const std::string& key, std::int64_t ours) {
    const std::optional<std::int64_t> theirs = stats.stats->find(key);
    if (!theirs) return;
    const bool agrees = ours == *theirs;
    ++agreement.compared;
    agreement.equal += agrees ? 1 : 0;
    if (!agrees && agreement.first.empty()) {
      agreement.first = fmt::format("{} is {} here and {} there", key, ours, *theirs);
    }
    table.add({snapshot.rank, snapshot.label, stats.label, work.history->device, key, ours, *theirs,
               agrees});
  };
  for (const auto& stats_of : {byte_stats(), count_stats()}) {
    for (const NamedStat& named : stats_of) {
      for (std::size_t p = 0; p < kPoolNames.size(); ++p) {
        const auto part = static_cast<Part>(p);
        const Figure& figure = work.replay.statistics(named.stat, part);
        for (const Facet& facet : kFacets) {
          if (!is_whole && facet.key != "current") continue;
          add(stats_summary_key_of(name_of(named.stat), name_of(part), facet.key),
              figure.*facet.value);
        }
      }
    }
  }
  if (is_whole) add("num_ooms", static_cast<std::int64_t>(work.replay.ooms.size()));
}

void add_agreement(Answer& answer, const RunView& view, const StatsView& stats) {
  const auto say = [&](std::string_view what) {
    answer.remarks.push_back(fmt::format("{}: {}", stats.label, what));
  };
  if (view.snapshots.empty()) return;
  const std::vector<const SnapshotView*> beside = snapshots_beside(view, stats);
  if (beside.size() != 1) {
    say("which snapshot is of the same process cannot be told, so they are not compared (the same "
        "name up to the first point tells it).");
    return;
  }
  const SnapshotView& snapshot = *beside.front();
  std::vector<const HistoryWork*> devices;
  for (const HistoryWork& work : work_of(snapshot).devices) {
    if (!is_empty(work)) devices.push_back(&work);
  }
  if (devices.size() != 1) {
    say(devices.empty() ? "the snapshot beside it is empty."
                        : "it does not say of which device it is, and the snapshot has several, so "
                          "they are not compared.");
    return;
  }
  const HistoryWork& work = *devices.front();
  const bool is_whole = work.replay.is_whole && work.allocations.cover_the_process();
  Agreement agreement;
  compare(answer.tables[kAgreement], snapshot, work, stats, is_whole, agreement);
  const std::string_view covered =
      is_whole ? ""
               : " (what is in use now; peaks and totals of the process are older than the "
                 "history)";
  if (agreement.equal == agreement.compared) {
    say(fmt::format("it agrees with {} in all {} figures{}.", snapshot.label, agreement.compared,
                    covered));
  } else {
    say(
        fmt::format("it differs from {} in {} of {} figures{}: {}. They were taken at different "
                    "moments, of different processes, or the figures were reset in between.",
                    snapshot.label, agreement.compared - agreement.equal, agreement.compared,
                    covered, agreement.first));
  }
}

}  // namespace

void add_stats(Answer& answer, const RunView& view, const StatsView& stats) {
  add_stats_summary_device(answer.tables[kDeviceSummary], stats);
  add_stats_summary_figures(answer.tables[kByteSummary], stats, byte_stats());
  add_stats_summary_figures(answer.tables[kCountSummary], stats, count_stats());
  // Requests above the largest size that is cut; snapshots do not tell them.
  base::Table& counts = answer.tables[kCountSummary];
  add_stats_summary_row(counts, stats, "oversize allocations", kPoolNames[0],
                        "oversize_allocations");
  add_stats_summary_row(counts, stats, "oversize segments", kPoolNames[0], "oversize_segments");
  add_agreement(answer, view, stats);
}

}  // namespace stepscope::analysis
