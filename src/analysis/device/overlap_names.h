// What a communication is called: by the arguments of its kernel, else of the call that launched
// it, else by the host range around that call, else by the kernel.
#pragma once

#include <compare>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/arithmetic/intervals.h"
#include "analysis/view.h"
#include "trace/trace.h"

namespace stepscope::analysis {

struct CollectiveName {
  std::string collective;
  std::optional<std::string> group;
  auto operator<=>(const CollectiveName&) const = default;
};

class CollectiveNames {
 public:
  explicit CollectiveNames(const trace::Trace& trace) : trace_(&trace) {}
  CollectiveName of(const Work& piece) const;

 private:
  std::optional<CollectiveName> said_by(trace::Row row) const;

  const trace::Trace* trace_;
};

// Ranges in which the CPU itself communicates (gloo, MPI), by name, in the order of rows. Those of
// NCCL and its like only launch kernels.
std::map<std::string, std::vector<Interval>> host_communication(const trace::Trace& trace);

}  // namespace stepscope::analysis
