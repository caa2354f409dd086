// Reads from the inputs of a few operators what their sizes are.
#include "analysis/operators/program_sizes.h"

#include <algorithm>
#include <array>
#include <optional>

#include "analysis/arithmetic/pair_numbers.h"
#include "analysis/costs/call_costs.h"

namespace stepscope::analysis {
namespace {

constexpr std::array<std::string_view, static_cast<std::size_t>(SizeRole::kCount)> kRoleNames = {
    "rows of an embedding", "classes of a loss", "width of a norm", "channels of a norm"};

// Which dimension of the first input has the size; from the end where it is below 0.
struct SizeOf {
  std::string_view op;
  SizeRole role;
  int dimension;
};
constexpr std::array kSizesOf = std::to_array<SizeOf>({
    {"aten::embedding", SizeRole::kEmbeddingRows, 0},
    {"aten::_embedding_bag", SizeRole::kEmbeddingRows, 0},
    {"aten::nll_loss_forward", SizeRole::kClasses, 1},
    {"aten::nll_loss2d_forward", SizeRole::kClasses, 1},
    {"aten::_log_softmax", SizeRole::kClasses, -1},
    {"aten::native_layer_norm", SizeRole::kNormWidth, -1},
    {"aten::_fused_rms_norm", SizeRole::kNormWidth, -1},
    {"aten::native_group_norm", SizeRole::kChannels, 1},
    {"aten::native_batch_norm", SizeRole::kChannels, 1},
    {"aten::cudnn_batch_norm", SizeRole::kChannels, 1},
    {"aten::miopen_batch_norm", SizeRole::kChannels, 1},
});

const SizeOf* find_size_of(std::string_view op) {
  const auto* const found = std::ranges::find(kSizesOf, op, &SizeOf::op);
  return found == kSizesOf.end() ? nullptr : found;
}

std::optional<std::int64_t> size_of(const OpInputs& in, int dimension) {
  if (in.inputs.empty() || in.inputs.front().kind != InputKind::kTensor) return std::nullopt;
  const std::vector<std::int64_t>& dims = in.inputs.front().tensor.dims;
  const auto count = static_cast<int>(dims.size());
  const int at = dimension < 0 ? count + dimension : dimension;
  if (at < 0 || at >= count) return std::nullopt;
  return dims[static_cast<std::size_t>(at)];
}

}  // namespace

std::string_view name_of(SizeRole role) { return kRoleNames[static_cast<std::size_t>(role)]; }

ProvedSizes proved_sizes(const WindowView& window) {
  const trace::Trace& trace = *window.trace;
  const trace::OpTable& ops = trace.ops();
  std::vector<const SizeOf*> by_name(trace.strings().size());
  for (base::StringId name = 0; name < by_name.size(); ++name) {
    by_name[name] = find_size_of(trace.text(name));
  }
  struct Seen {
    std::optional<std::int64_t> size;
    SizeRole role;
    std::uint64_t calls = 0;
  };
  PairNumbers numbers;  // of a name with its inputs
  std::vector<Seen> seen;
  ops.rows.for_each([&](trace::Row row, std::uint32_t entry) {
    const base::StringId name = trace.name()[row];
    if (name >= by_name.size() || by_name[name] == nullptr) return;
    if (ops.signature[entry] == trace::kNoSignature) return;
    const std::uint32_t number = numbers.number(name, ops.signature[entry]);
    if (number == seen.size()) {
      const SizeOf& of = *by_name[name];
      seen.push_back({size_of(inputs_of(trace, row), of.dimension), of.role});
    }
    ++seen[number].calls;
  });
  ProvedSizes out;
  for (const Seen& one : seen) {
    if (one.size && *one.size > 1) out[{*one.size, one.role}] += one.calls;
  }
  return out;
}

}  // namespace stepscope::analysis
