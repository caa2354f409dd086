// Operator calls added up by a key: a name, a name with its shapes, a name with its call stack.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "analysis/operators/op_calls.h"
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

// What operator calls are grouped by. Keys are dense numbers, so that adding up needs no look-up;
// their texts are made once per key.

struct OpLabel {
  std::string name;    // of the operator
  std::string detail;  // shapes of its inputs, or its call stack; empty: not recorded
  std::string types;   // of its inputs
  auto operator<=>(const OpLabel&) const = default;
};

struct OpKeys {
  std::vector<std::uint32_t> key;  // by OpCalls::calls
  std::vector<OpLabel> labels;     // by key
  bool has_details = false;        // any label has one
};

OpKeys keys_by_name(const WindowView& window, const OpCalls& ops);

// Shapes and types of the inputs: "[8,64],[]" and "float,Scalar".
OpKeys keys_by_shape(const WindowView& window, const OpCalls& ops);

// The innermost `frames` Python frames around a call, 0: all of them; without those that only pass
// calls on (built-in functions, nn.Module's _call_impl) or name a module, not a place. A backward
// operator without frames has those of its forward operator, after "backward of ".
OpKeys keys_by_stack(const WindowView& window, const OpCalls& ops, std::size_t frames);

}  // namespace stepscope::analysis
