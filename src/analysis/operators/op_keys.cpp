#include "analysis/operators/op_keys.h"

#include "analysis/arithmetic/pair_numbers.h"

namespace stepscope::analysis {
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
