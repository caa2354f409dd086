// Rows taken from and added to tables: what is moved is what was asked for, not the whole table.
// A table that is made first is zeroed or copied by an operator inside, which counts for itself.
#include <algorithm>
#include <array>

#include "analysis/costs/costs.h"

namespace stepscope::analysis {
namespace {

// Takes `count` elements of a table: they are read and written, the indices are read.
Cost taken(const Tensor& table, const Tensor& index, const Amount& count) {
  Cost cost;
  cost.dtype = table.dtype;
  cost.flops = 0;
  cost.bytes = bytes(count, table.dtype) * 2 + bytes(index);
  return cost;
}

// weight (rows × width), indices
Cost embedding(const Call& call) {
  const Tensor* weight = call.tensor(0);
  const Tensor* index = call.tensor(1);
  if (weight == nullptr || index == nullptr || weight->rank() != 2) {
    return unknown(Missing::kInputs);
  }
  return taken(*weight, *index, elements(*index) * weight->dims[1]);
}

// grad_output, indices, num_weights: rows of the table are written, as many as there are indices at
// most. Which are equal is data.
Cost embedding_backward(const Call& call) {
  const Tensor* grad = call.tensor(0);
  const Tensor* index = call.tensor(1);
  if (grad == nullptr || index == nullptr || grad->rank() == 0) return unknown(Missing::kInputs);
  const auto rows = whole_number(call.value(2));
  Cost cost;
  cost.dtype = grad->dtype;
  cost.flops = elements(*grad);
  if (const auto asked = elements(*index).value(); asked && rows) {
    cost.bytes = bytes(*grad) + bytes(*index) +
                 bytes(Amount(std::min(*asked, *rows)) * grad->dims.back(), grad->dtype);
  }
  if (!rows) cost.missing = Missing::kValues;
  return cost;
}

// self, dim, index
Cost index_select(const Call& call) {
  const Tensor* self = call.tensor(0);
  const Tensor* index = call.tensor(2);
  if (self == nullptr || index == nullptr || self->rank() == 0) return unknown(Missing::kInputs);
  const auto dim = whole_number(call.value(1));
  if (!dim) return unknown(Missing::kValues);
  const auto rank = static_cast<std::int64_t>(self->rank());
  const std::int64_t place = *dim < 0 ? *dim + rank : *dim;
  if (place < 0 || place >= rank) return unknown(Missing::kInputs);
  std::vector<std::int64_t> dims = self->dims;
  dims[static_cast<std::size_t>(place)] = 1;
  return taken(*self, *index, elements(*index) * product(dims));
}

// self, dim, index: the result has the shape of the index
Cost gather(const Call& call) {
  const Tensor* self = call.tensor(0);
  const Tensor* index = call.tensor(2);
  if (self == nullptr || index == nullptr) return unknown(Missing::kInputs);
  return taken(*self, *index, elements(*index));
}

// self, dim, index, source: its elements are read, and written where the index says; added ones
// are read there first.
Cost scatter(const Call& call) {
  const Tensor* self = call.tensor(0);
  const Tensor* index = call.tensor(2);
  const Tensor* source = call.tensor(3);
  const bool scalar = call.size() > 3 && call.in.inputs[3].kind == InputKind::kScalar;
  if (self == nullptr || index == nullptr || (source == nullptr && !scalar)) {
    return unknown(Missing::kInputs);
  }
  const bool by_rows = call.formula.name == "index_add";
  const bool adds = call.formula.name != "scatter";
  const Amount count = by_rows && source != nullptr ? elements(*source) : elements(*index);
  Cost cost;
  cost.dtype = self->dtype;
  cost.flops = adds ? count : 0;
  cost.bytes = bytes(*index) + (source != nullptr ? bytes(count, source->dtype) : Amount(0)) +
               bytes(count, self->dtype) * (adds ? 2 : 1);
  return cost;
}

// self, a list of indices: what they pick is not recorded
Cost index(const Call& call) {
  const Tensor* self = call.tensor(0);
  if (self == nullptr) return unknown(Missing::kInputs);
  Cost cost;
  cost.dtype = self->dtype;
  cost.flops = 0;
  cost.missing = Missing::kLists;
  return cost;
}

constexpr auto kFamily = Family::kIndexing;
constexpr std::array kFormulas = std::to_array<Formula>({
    {"embedding", kFamily, embedding},
    {"embedding_dense_backward", kFamily, embedding_backward},
    {"index_select", kFamily, index_select},
    {"gather", kFamily, gather},
    {"index", kFamily, index},
    {"scatter", kFamily, scatter},
    {"scatter_add", kFamily, scatter},
    {"index_add", kFamily, scatter},
});

}  // namespace

std::span<const Formula> indexing_formulas() { return kFormulas; }

}  // namespace stepscope::analysis
