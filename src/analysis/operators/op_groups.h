// Operator calls added up by a key: a name, a name with its shapes, a name with its call stack.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/operators/op_memory.h"
#include "analysis/operators/op_times.h"
#include "analysis/operators/tensor_cores.h"

namespace stepscope::analysis {

struct OpSums {
  std::uint64_t calls = 0;
  std::uint64_t work = 0;  // kernels, copies and memsets it launched itself
  base::Nanos host_self = 0, host_total = 0, runtime = 0;
  base::Nanos device_self = 0, device_total = 0;
  base::Nanos tensor_used = 0, tensor_unknown = 0;  // of device_self
  NetBytes memory_self, memory_total;
  bool eligible = false;  // some of its calls compute what tensor cores can

  bool empty() const { return calls == 0 && work == 0 && memory_self == NetBytes{}; }
  void merge(const OpSums& other);
};

// What all groupings of one window are made from.
struct OpCosts {
  const WindowView* window = nullptr;
  const OpTimes* times = nullptr;
  OpMemory memory;
  std::vector<base::Nanos> tensor_used, tensor_unknown;  // by call, of its own work
  std::vector<std::uint32_t> work;                       // by call: pieces of its own
  std::vector<bool> eligible;                            // by call
  std::vector<OpSums> outside;                           // by NoOperator
};
OpCosts op_costs(const WindowView& window);

// One sum per key. Totals count a call only where no call of its key is around it.
std::vector<OpSums> sums_by_key(const OpCosts& costs, std::span<const std::uint32_t> key,
                                std::size_t keys);

}  // namespace stepscope::analysis
