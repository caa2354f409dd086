// Memory that operators allocate and free, from the allocator's marks on their threads: what is
// left of it when a call ends. Definition: docs/metrics/operators.md.
#pragma once

#include <vector>

#include "analysis/operators/op_times.h"

namespace stepscope::analysis {

struct NetBytes {
  base::Bytes host = 0, device = 0;  // allocations minus frees
  void add(const NetBytes& other) {
    host += other.host;
    device += other.device;
  }
  bool operator==(const NetBytes&) const = default;
};

struct OpMemory {
  bool recorded = false;        // the trace has any marks
  std::vector<NetBytes> self;   // by OpTimes::calls: marks with no operator further in
  std::vector<NetBytes> total;  // and those of the operators below
  NetBytes outside;             // in no operator
};

OpMemory op_memory(const WindowView& window, const OpTimes& times);

}  // namespace stepscope::analysis
