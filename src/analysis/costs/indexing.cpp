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

// self, a list of indices, values, whether to add them: a single value may go to many places
Cost index_put(const Call& call) {
  const Tensor* self = call.tensor(0);
  const Tensor* values = call.tensor(2);
  const auto adds = truth(call.value(3));
  if (self == nullptr || values == nullptr) return unknown(Missing::kInputs);
  if (!adds) return unknown(Missing::kValues);
  Cost cost;
  cost.dtype = self->dtype;
  cost.missing = Missing::kLists;
  if (!*adds) {
    cost.flops = 0;
  } else if (elements(*values).value() != 1) {
    cost.flops = elements(*values);
  }
  return cost;
}

// self, index: the result has the shape of the index
Cost take(const Call& call) {
  const Tensor* self = call.tensor(0);
  const Tensor* index = call.tensor(1);
  if (self == nullptr || index == nullptr) return unknown(Missing::kInputs);
  return taken(*self, *index, elements(*index));
}

// weight (rows × width), indices, offsets, …, weights of indices, whether the last offset is an
// end: rows of a bag become one, each of them added, or compared for the largest
Cost embedding_bag(const Call& call) {
  const Tensor* weight = call.tensor(0);
  const Tensor* index = call.tensor(1);
  const Tensor* offsets = call.tensor(2);
  const Tensor* scales = call.tensor(6);
  if (weight == nullptr || index == nullptr || offsets == nullptr || weight->rank() != 2 ||
      offsets->rank() != 1) {
    return unknown(Missing::kInputs);
  }
  const auto has_end = truth(call.value(7));
  const Amount rows = elements(*index) * weight->dims[1];
  Cost cost;
  cost.dtype = weight->dtype;
  cost.flops = rows * (scales == nullptr ? 1 : 2);
  if (!has_end) {
    cost.missing = Missing::kValues;
    return cost;
  }
  const Amount bags = Amount(offsets->dims[0]) + (*has_end ? -1 : 0);
  cost.bytes = bytes(rows, weight->dtype) + bytes(*index) + bytes(*offsets) +
               bytes(bags * weight->dims[1], weight->dtype);
  if (scales != nullptr) cost.bytes += bytes(*scales);
  return cost;
}

// grad_output (bags × width), indices, the bag of each, …, num_weights: a row of the table for each
// index at most, as in the gradient of an embedding
Cost embedding_bag_backward(const Call& call) {
  const Tensor* grad = call.tensor(0);
  const Tensor* index = call.tensor(1);
  const Tensor* bags = call.tensor(2);
  if (grad == nullptr || index == nullptr || bags == nullptr || grad->rank() != 2) {
    return unknown(Missing::kInputs);
  }
  const auto rows = whole_number(call.value(5));
  const auto asked = elements(*index).value();
  Cost cost;
  cost.dtype = grad->dtype;
  cost.flops = elements(*index) * grad->dims[1];
  if (!rows) {
    cost.missing = Missing::kValues;
  } else if (asked) {
    cost.bytes = bytes(*grad) + bytes(*index) + bytes(*bags) +
                 bytes(Amount(std::min(*asked, *rows)) * grad->dims[1], grad->dtype);
  }
  return cost;
}

constexpr auto kIndexingFamily = Family::kIndexing;
constexpr std::array kIndexingFormulas = std::to_array<Formula>({
    {"embedding", kIndexingFamily, embedding},
    {"embedding_dense_backward", kIndexingFamily, embedding_backward},
    {"_embedding_bag", kIndexingFamily, embedding_bag},
    {"_embedding_bag_forward_only", kIndexingFamily, embedding_bag},
    {"_embedding_bag_dense_backward", kIndexingFamily, embedding_bag_backward},
    {"_index_put_impl", kIndexingFamily, index_put},
    {"take", kIndexingFamily, take},
    {"index_select", kIndexingFamily, index_select},
    {"gather", kIndexingFamily, gather},
    {"index", kIndexingFamily, index},
    {"scatter", kIndexingFamily, scatter},
    {"scatter_add", kIndexingFamily, scatter},
    {"index_add", kIndexingFamily, scatter},
});

}  // namespace

std::span<const Formula> indexing_formulas() { return kIndexingFormulas; }

}  // namespace stepscope::analysis
