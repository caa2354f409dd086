// What launching costs: the sums of the launches analysis and how its tables are filled.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/arithmetic/durations.h"
#include "analysis/view.h"

namespace stepscope::analysis {

// One call and the device work it started: one piece, or the many of a graph.
struct Launch {
  trace::Row call = trace::kNoRow;
  base::Nanos cost = 0;                 // how long the call lasted
  std::span<const std::uint32_t> work;  // indices into WindowView::work, by start
  base::Nanos work_ns = 0;              // of all pieces together
  bool is_graph() const { return work.size() > 1; }
  bool outlasts_its_work() const { return work_ns < cost; }
};

// The counted launches of a window in the order of their calls' rows.
struct Launches {
  std::vector<std::uint32_t> work;  // by launch
  std::vector<Launch> list;         // each has its part of `work`
};
Launches launches_of(const WindowView& window, bool kernels_only);

// From the end of the call to the start of the work; 0 when the work began before.
base::Nanos queue_delay(const WindowView& window, const Launch& launch, const Work& piece);

// Totals of launches, or of the work of one name.
struct LaunchSums {
  std::uint64_t calls = 0, work = 0;
  base::Nanos cost = 0;  // of the calls, together
  Durations delay;       // per piece
  Durations costs;       // per call; only of one name of call
  Durations lengths;     // per piece; only of one name of work
  std::uint64_t short_kernels = 0;
  base::Nanos short_ns = 0;
  std::uint64_t outlasting = 0;  // calls that lasted longer than all they started
  std::uint64_t graphs = 0, graph_work = 0;
  std::uint64_t without_call = 0;

  double mean_cost() const;  // 0 without calls
  void merge(LaunchSums&& other);
};

struct LaunchLine {
  std::uint32_t work = 0;
  trace::Row call = trace::kNoRow;
  base::Nanos cost = 0, delay = 0;
  bool graph = false;
};

struct LaunchPartial {
  LaunchSums all;
  std::map<std::string_view, LaunchSums> calls;                          // by name of the call
  std::map<std::pair<std::string_view, WorkClass>, LaunchSums> kernels;  // by name of the work
  std::vector<LaunchSums> steps;                                         // by index
  std::vector<LaunchLine> lines;                                         // where asked for
};

struct LaunchSettings {
  base::Nanos shorter_than = 0;
  bool kernels_only = false;
  bool each = false;
};
LaunchPartial launch_sums(const WindowView& window, const LaunchSettings& settings);

}  // namespace stepscope::analysis
