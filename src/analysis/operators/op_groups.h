// Operator calls added up by a key: a name, a name with its shapes, a name with its call stack.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/operators/op_times.h"
#include "analysis/operators/tensor_cores.h"

namespace stepscope::analysis {

// Memory that is left of what was allocated when a call ends.
struct NetBytes {
  base::Bytes host = 0, device = 0;  // allocations minus frees
  void add(const NetBytes& other) {
    host += other.host;
    device += other.device;
  }
  bool operator==(const NetBytes&) const = default;
};

struct OpSums {
  std::uint64_t calls = 0;
  std::uint64_t outermost = 0;  // of them: in no call of the same key, as totals count
  std::uint64_t work = 0;       // kernels, copies and memsets it launched itself
  base::Nanos host_self = 0, host_total = 0, runtime = 0;
  base::Nanos device_self = 0, device_total = 0;
  base::Nanos tensor_used = 0, tensor_plain = 0, tensor_unknown = 0;  // of device_self
  NetBytes memory_self, memory_total;
  bool eligible = false;  // some of its calls compute what tensor cores can

  bool empty() const { return calls == 0 && work == 0 && memory_self == NetBytes{}; }
  void merge(const OpSums& other);
};

// What all groupings of one window are made from.
class OpCosts {
 public:
  explicit OpCosts(const WindowView& window);

  const OpCalls& calls() const { return calls_; }
  bool has_memory() const;                                         // the trace has any marks
  const std::vector<OpSums>& outside() const { return outside_; }  // by NoOperator

  // One sum per key; calls of one key have one name. Totals count a call only where no call of its
  // key is around it.
  std::vector<OpSums> by_key(std::span<const std::uint32_t> key, std::size_t keys) const;

 private:
  // A piece of counted work that an operator launched.
  struct Piece {
    std::uint32_t call;
    TensorCores use;
    base::Nanos length;
  };
  // What a call allocated and freed itself, in a row.
  struct Taken {
    std::uint32_t call;
    NetBytes bytes;
  };
  class Around;
  void find_memory();
  void add_outside(const Work& piece, TensorCores use);
  void find_eligible();
  void find_nested();
  void add_calls(std::span<const std::uint32_t> key, std::vector<OpSums>& sums) const;
  void add_work(Around& around, std::vector<OpSums>& sums) const;
  void add_memory(Around& around, std::vector<OpSums>& sums) const;
  bool counts(std::uint32_t call) const { return calls_.counts(window_, call); }

  const WindowView& window_;
  const OpCalls& calls_;
  OpHostTimes times_;
  std::vector<Piece> work_;
  std::vector<Taken> memory_;
  std::vector<bool> product_;          // by name: it multiplies matrices
  std::vector<bool> eligible_;         // by call: a product that tensor cores can compute
  std::vector<std::uint32_t> nested_;  // the few calls that have one of their name around them
  std::vector<OpSums> outside_;
};

}  // namespace stepscope::analysis
