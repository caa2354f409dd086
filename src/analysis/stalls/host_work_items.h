// What threads that launch work do on the CPU themselves, one item after the other: the parts of
// which host_work.cpp makes episodes.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analysis/arithmetic/intervals.h"
#include "analysis/view.h"

namespace stepscope::analysis {

// What an operator on the CPU is for, as far as its name says.
enum class Purpose : std::uint8_t { kAny, kRandom, kStatistics };
Purpose purpose_of(std::string_view op);
std::string_view name_of(Purpose purpose);  // "random", "statistics" or empty

// Operators that may work on the CPU: not those that only look at a tensor in another way or take
// memory, and not the framework's own.
bool names_cpu_work(std::string_view op);
// Ranges in which torch.compile makes code: Dynamo, Inductor, Triton's search.
bool names_compiling(std::string_view range);
// Calls that load code into the device.
bool names_loading_code(std::string_view call);

struct HostItem {
  enum class Sort : std::uint8_t { kOperator, kDown, kUp };
  Interval time;
  Sort sort = Sort::kOperator;
  Purpose purpose = Purpose::kAny;
  bool in_optimizer = false;
  bool pageable = false;    // of a copy
  std::uint32_t piece = 0;  // of a copy: into WindowView::work
  trace::Row row = trace::kNoRow;
  base::Bytes bytes = 0;  // of a copy
};

struct HostItems {
  std::vector<HostItem> list;         // by start
  std::vector<base::Nanos> launches;  // of what computes, ascending
  Intervals recorded;                 // a launching thread is in an operator or a call
  Intervals optimizer;                // it is in an optimizer's step
  Intervals loading;                  // it waits for its data loader
  std::vector<HostItem> compiling;    // by start; each the outermost
  std::vector<HostItem> checks;       // of anomaly mode, by start
  std::int64_t backward_nodes = 0, checked_nodes = 0;  // in selected steps
};

// Nothing where the trace does not say which call launched what: then every operator would seem to
// work on the CPU.
HostItems host_items(const WindowView& window);

}  // namespace stepscope::analysis
