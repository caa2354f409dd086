// What operator calls are grouped by. Keys are dense numbers, so that adding up needs no look-up;
// their texts are made once per key.
#pragma once

#include <compare>
#include <cstddef>
#include <string>
#include <vector>

#include "analysis/operators/op_calls.h"

namespace stepscope::analysis {

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
// operator without frames has those of its forward operator, behind "backward of ".
OpKeys keys_by_stack(const WindowView& window, const OpCalls& ops, std::size_t frames);

}  // namespace stepscope::analysis
