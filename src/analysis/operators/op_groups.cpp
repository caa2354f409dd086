#include "analysis/operators/op_groups.h"

#include <algorithm>

namespace stepscope::analysis {

void OpSums::merge(const OpSums& other) {
  calls += other.calls;
  work += other.work;
  host_self += other.host_self;
  host_total += other.host_total;
  runtime += other.runtime;
  device_self += other.device_self;
  device_total += other.device_total;
  tensor_used += other.tensor_used;
  tensor_unknown += other.tensor_unknown;
  memory_self.add(other.memory_self);
  memory_total.add(other.memory_total);
  eligible |= other.eligible;
}

namespace {

// By name, by what the devices have, and by the types of the inputs where they are recorded; or
// because it did.
void add_eligible(OpCosts& costs) {
  const trace::Trace& trace = *costs.window->trace;
  std::vector<std::uint8_t> product(trace.strings().size());  // 0 not asked yet, 1 no, 2 yes
  MatrixUnits units = MatrixUnits::kUnknown;
  for (const DeviceView& device : costs.window->devices) {
    units = std::max(units, matrix_units(trace.header(), device.device));
  }
  std::vector<bool> takes;
  for (const trace::Signature& signature : trace.signatures()) {
    takes.push_back(multiplies(units, trace.text(signature.types)));
  }
  const bool takes_unsaid = multiplies(units, {});
  costs.eligible.resize(costs.times->calls.size());
  for (std::size_t i = 0; i < costs.eligible.size(); ++i) {
    const trace::Row row = costs.times->calls[i].row;
    std::uint8_t& known = product[trace.name()[row]];
    if (known == 0) known = names_matrix_operator(trace.name_text(row)) ? 2 : 1;
    if (known == 1) {
      costs.eligible[i] = costs.tensor_used[i] > 0;
      continue;
    }
    const std::uint32_t entry = trace.ops().rows.find(row);
    const trace::SignatureId signature =
        entry == base::RowSet::kNone ? trace::kNoSignature : trace.ops().signature[entry];
    costs.eligible[i] = signature == trace::kNoSignature ? takes_unsaid : takes[signature];
  }
}

}  // namespace

OpCosts op_costs(const WindowView& window) {
  OpCosts costs;
  costs.window = &window;
  costs.times = &op_times(window);
  costs.memory = op_memory(window, *costs.times);
  const std::size_t calls = costs.times->calls.size();
  costs.tensor_used.resize(calls);
  costs.tensor_unknown.resize(calls);
  costs.work.resize(calls);
  costs.outside.resize(kNoOperators);
  TensorCoreNames names(window);
  for (std::size_t i = 0; i < window.work.size(); ++i) {
    const Work& piece = window.work[i];
    if (!window.counts(piece)) continue;
    const TensorCores use = names.of(piece);
    const base::Nanos used = use == TensorCores::kUsed ? piece.length() : 0;
    const base::Nanos unknown = use == TensorCores::kUnknown ? piece.length() : 0;
    if (const std::uint32_t call = costs.times->call_of_work[i]; call != OpCall::kNone) {
      costs.tensor_used[call] += used;
      costs.tensor_unknown[call] += unknown;
      ++costs.work[call];
      continue;
    }
    OpSums& sums = costs.outside[static_cast<std::size_t>(why_no_operator(window, piece))];
    ++sums.work;
    sums.device_self += piece.length();
    sums.device_total += piece.length();
    sums.tensor_used += used;
    sums.tensor_unknown += unknown;
  }
  add_eligible(costs);
  OpSums& outside = costs.outside[static_cast<std::size_t>(NoOperator::kOutside)];
  outside.memory_self = outside.memory_total = costs.memory.outside;
  return costs;
}

std::vector<OpSums> sums_by_key(const OpCosts& costs, std::span<const std::uint32_t> key,
                                std::size_t keys) {
  std::vector<OpSums> sums(keys);
  const std::vector<bool> first = outermost(*costs.times, key, keys);
  for (std::size_t i = 0; i < costs.times->calls.size(); ++i) {
    const OpCall& call = costs.times->calls[i];
    OpSums& sum = sums[key[i]];
    // Device time has its own rule of what counts: the step of its launch.
    sum.work += costs.work[i];
    sum.device_self += call.device_self;
    if (first[i]) sum.device_total += call.device_total;
    sum.tensor_used += costs.tensor_used[i];
    sum.tensor_unknown += costs.tensor_unknown[i];
    if (!call.counted) continue;
    ++sum.calls;
    sum.eligible = sum.eligible || costs.eligible[i];
    sum.host_self += call.host_self;
    sum.runtime += call.runtime;
    sum.memory_self.add(costs.memory.self[i]);
    if (!first[i]) continue;
    sum.host_total += call.host_total;
    sum.memory_total.add(costs.memory.total[i]);
  }
  return sums;
}

}  // namespace stepscope::analysis
