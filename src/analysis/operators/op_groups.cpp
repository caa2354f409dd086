// Adds up operator calls by a key: a name, shapes or a call stack.
#include "analysis/operators/op_groups.h"

#include <algorithm>

#include "analysis/arithmetic/pair_numbers.h"
#include "analysis/name_sign.h"
#include "analysis/operators/op_calls.h"

namespace stepscope::analysis {

using base::Nanos;

void OpSums::merge(const OpSums& other) {
  outermost += other.outermost;
  calls += other.calls;
  work += other.work;
  host_self += other.host_self;
  host_total += other.host_total;
  runtime += other.runtime;
  device_self += other.device_self;
  device_total += other.device_total;
  tensor_used += other.tensor_used;
  tensor_plain += other.tensor_plain;
  tensor_unknown += other.tensor_unknown;
  memory_self.add(other.memory_self);
  memory_total.add(other.memory_total);
  eligible |= other.eligible;
}

OpCosts::OpCosts(const WindowView& window)
    : window_(window),
      calls_(op_calls(window)),
      times_(op_host_times(*window.trace, calls_)),
      outside_(kNoOperators) {
  TensorCoreNames names(window);
  work_.reserve(window.work.size());
  for (std::size_t i = 0; i < window.work.size(); ++i) {
    const Work& piece = window.work[i];
    if (!window.counts(piece)) continue;
    if (const std::uint32_t call = calls_.of_work[i]; call != OpCall::kNone) {
      work_.push_back({call, names.cores_of(piece), piece.length()});
    } else {
      add_outside(piece, names.cores_of(piece));
    }
  }
  find_eligible();
  find_memory();
  find_nested();
}

bool OpCosts::has_memory() const { return window_.trace->memory_events().rows.size() > 0; }

void OpCosts::add_outside(const Work& piece, TensorCores use) {
  OpSums& sums = outside_[static_cast<std::size_t>(why_no_operator(window_, piece))];
  ++sums.work;
  sums.device_self += piece.length();
  sums.device_total += piece.length();
  if (use == TensorCores::kUsed) sums.tensor_used += piece.length();
  if (use == TensorCores::kPlain) sums.tensor_plain += piece.length();
  if (use == TensorCores::kUnknown) sums.tensor_unknown += piece.length();
}

void OpCosts::find_memory() {
  if (!has_memory()) return;
  const trace::Trace& trace = *window_.trace;
  const trace::MemoryTable& marks = trace.memory_events();
  const OpMarks& running = op_marks(window_);
  OpSums& outside = outside_[static_cast<std::size_t>(NoOperator::kOutside)];
  marks.rows.for_each([&](trace::Row row, std::uint32_t entry) {
    if ((trace.flags()[row] & trace::kFarTime) != 0) return;
    const base::Bytes bytes = marks.bytes[entry];
    const bool on_host = marks.device_type[entry] == 0;
    const NetBytes net{.host = on_host ? bytes : 0, .device = on_host ? 0 : bytes};
    const std::uint32_t call = running.call[entry];
    if (call == OpCall::kNone) {
      if (window_.counts_at(trace.start()[row])) outside.memory_self.add(net);
    } else if (!memory_.empty() && memory_.back().call == call) {
      memory_.back().bytes.add(net);
    } else {
      memory_.push_back({call, net});
    }
  });
  outside.memory_total = outside.memory_self;
}

// By name, by what the devices have, and by the types of the inputs where they are recorded.
void OpCosts::find_eligible() {
  const trace::Trace& trace = *window_.trace;
  MatrixUnits units = MatrixUnits::kUnknown;
  for (const DeviceView& device : window_.devices) {
    units = std::max(units, matrix_units(trace.header(), device.device));
  }
  std::vector<bool> takes;
  for (const trace::Signature& signature : trace.signatures()) {
    takes.push_back(multiplies(units, trace.text(signature.types)));
  }
  const bool takes_unsaid = multiplies(units, {});
  NameSign products(trace, names_matrix_operator);
  product_.resize(trace.strings().size());
  eligible_.resize(calls_.calls.size());
  for (std::size_t i = 0; i < eligible_.size(); ++i) {
    const trace::Row row = calls_.calls[i].row;
    if (!products.matches_row(row)) continue;
    product_[trace.name()[row]] = true;
    const std::uint32_t entry = trace.ops().rows.find(row);
    const trace::SignatureId signature =
        entry == base::RowSet::kNone ? trace::kNoSignature : trace.ops().signature[entry];
    eligible_[i] = signature == trace::kNoSignature ? takes_unsaid : takes[signature];
  }
}

// Of a call and those around it the keys, each once, with its outermost call.
class OpCosts::Around {
 public:
  Around(const OpCalls& calls, std::span<const std::uint32_t> key, std::size_t keys)
      : calls_(calls), key_(key), seen_(keys) {}

  std::uint32_t key(std::uint32_t call) const { return key_[call]; }
  template <class Visit>
  void for_each(std::uint32_t call, Visit visit) {
    chain_.clear();
    for (; call != OpCall::kNone; call = calls_.calls[call].parent) chain_.push_back(call);
    ++turn_;
    for (std::size_t i = chain_.size(); i-- > 0;) {
      const std::uint32_t key = key_[chain_[i]];
      if (seen_[key] != turn_) visit(key, chain_[i]);
      seen_[key] = turn_;
    }
  }

 private:
  const OpCalls& calls_;
  std::span<const std::uint32_t> key_;
  std::vector<std::uint64_t> seen_;  // by key: the last turn it came in
  std::uint64_t turn_ = 0;
  std::vector<std::uint32_t> chain_;
};

void OpCosts::find_nested() {
  const trace::Trace& trace = *window_.trace;
  std::vector<std::uint32_t> names;
  names.reserve(calls_.calls.size());
  for (const OpCall& call : calls_.calls) names.push_back(trace.name()[call.row]);
  const std::vector<bool> first = outermost(calls_, names, trace.strings().size());
  for (std::uint32_t i = 0; i < first.size(); ++i) {
    if (!first[i]) nested_.push_back(i);
  }
}

void OpCosts::add_calls(std::span<const std::uint32_t> key, std::vector<OpSums>& sums) const {
  const auto length = [&](std::uint32_t call) {
    return window_.trace->duration()[calls_.calls[call].row];
  };
  for (std::uint32_t i = 0; i < calls_.calls.size(); ++i) {
    if (!counts(i)) continue;
    OpSums& sum = sums[key[i]];
    ++sum.calls;
    ++sum.outermost;
    sum.host_self += times_.self[i];
    sum.runtime += times_.runtime[i];
    if (eligible_[i]) sum.eligible = true;
    sum.host_total += length(i);
  }
  for (const std::uint32_t i : nested_) {
    std::uint32_t around = calls_.calls[i].parent;
    while (around != OpCall::kNone && key[around] != key[i]) around = calls_.calls[around].parent;
    if (around == OpCall::kNone || !counts(i)) continue;
    sums[key[i]].host_total -= length(i);
    --sums[key[i]].outermost;
  }
}

// Device time has its own rule of what counts: the step of its launch.
void OpCosts::add_work(Around& around, std::vector<OpSums>& sums) const {
  for (const auto& [call, use, length] : work_) {
    OpSums& sum = sums[around.key(call)];
    ++sum.work;
    sum.device_self += length;
    if (use == TensorCores::kUsed) sum.tensor_used += length;
    if (use == TensorCores::kPlain) sum.tensor_plain += length;
    if (use == TensorCores::kUnknown) sum.tensor_unknown += length;
    // What uses them without being known as a product can.
    if (use == TensorCores::kUsed && length > 0 && counts(call) &&
        !product_[window_.trace->name()[calls_.calls[call].row]]) {
      sum.eligible = true;
    }
    around.for_each(call,
                    [&](std::uint32_t key, std::uint32_t) { sums[key].device_total += length; });
  }
}

void OpCosts::add_memory(Around& around, std::vector<OpSums>& sums) const {
  for (const auto& [call, bytes] : memory_) {
    if (counts(call)) sums[around.key(call)].memory_self.add(bytes);
    around.for_each(call, [&](std::uint32_t key, std::uint32_t outermost) {
      if (counts(outermost)) sums[key].memory_total.add(bytes);
    });
  }
}

std::vector<OpSums> OpCosts::by_key(std::span<const std::uint32_t> key, std::size_t keys) const {
  std::vector<OpSums> sums(keys);
  add_calls(key, sums);
  Around around(calls_, key, keys);
  add_work(around, sums);
  add_memory(around, sums);
  return sums;
}

namespace {

constexpr std::uint32_t kOpKeysNone = 0xffffffff;

// A JSON list without its brackets, texts in it without their quotes.
std::string inside_list(std::string_view list) {
  if (list.size() >= 2 && list.front() == '[') list = list.substr(1, list.size() - 2);
  std::string text(list);
  std::erase(text, '"');
  return text;
}

}  // namespace

OpKeys keys_by_name(const WindowView& window, const OpCalls& ops) {
  const trace::Trace& trace = *window.trace;
  OpKeys keys;
  keys.key.reserve(ops.calls.size());
  std::vector<std::uint32_t> key_of(trace.strings().size(), kOpKeysNone);
  for (const OpCall& call : ops.calls) {
    std::uint32_t& key = key_of[trace.name()[call.row]];
    if (key == kOpKeysNone) {
      key = static_cast<std::uint32_t>(keys.labels.size());
      keys.labels.push_back({std::string(trace.name_text(call.row)), {}, {}});
    }
    keys.key.push_back(key);
  }
  return keys;
}

OpKeys keys_by_shape(const WindowView& window, const OpCalls& ops) {
  const trace::Trace& trace = *window.trace;
  const trace::OpTable& inputs = trace.ops();
  // Signatures differ in strides and values too: one number for those with equal shapes and types.
  PairNumbers shapes;
  std::vector<std::uint32_t> shape_of;
  shape_of.reserve(trace.signatures().size());
  for (const trace::Signature& signature : trace.signatures()) {
    const bool given = signature.dims != base::kNoString;
    shape_of.push_back(given ? shapes.number(signature.dims, signature.types) : kOpKeysNone);
  }
  OpKeys keys;
  keys.has_details = !shapes.members().empty();
  keys.key.reserve(ops.calls.size());
  PairNumbers pairs;
  struct Last {
    std::uint32_t shape = kOpKeysNone - 1, key = kOpKeysNone;
  };
  std::vector<Last> last(trace.strings().size());  // by name: most calls are like the one before
  for (const OpCall& call : ops.calls) {
    const std::uint32_t entry = inputs.rows.find(call.row);
    const trace::SignatureId signature =
        entry == base::RowSet::kNone ? trace::kNoSignature : inputs.signature[entry];
    const std::uint32_t shape =
        signature == trace::kNoSignature ? kOpKeysNone : shape_of[signature];
    const base::StringId name = trace.name()[call.row];
    if (last[name].shape != shape) last[name] = {shape, pairs.number(name, shape)};
    keys.key.push_back(last[name].key);
  }
  for (const auto& [name, shape] : pairs.members()) {
    OpLabel label{std::string(trace.text(name)), {}, {}};
    if (shape != kOpKeysNone) {
      const auto& [dims, types] = shapes.members()[shape];
      label.detail = inside_list(trace.text(dims));
      if (label.detail.empty()) label.detail = "(no inputs)";
      label.types = inside_list(trace.text(types));
    }
    keys.labels.push_back(std::move(label));
  }
  return keys;
}

}  // namespace stepscope::analysis
