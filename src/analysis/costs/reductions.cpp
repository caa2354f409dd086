// Many elements to one: sums, means, norms, extremes.
#include <algorithm>
#include <array>

#include "analysis/costs/costs.h"

namespace stepscope::analysis {
namespace {

using Dims = std::vector<std::int64_t>;

// Elements left when these dimensions are gone; no dimension named means all of them.
std::optional<Amount> left(const Tensor& x, const Dims& gone) {
  if (gone.empty()) return Amount(1);
  Dims dims = x.dims;
  for (const std::int64_t dim : gone) {
    const std::int64_t place = dim < 0 ? dim + static_cast<std::int64_t>(dims.size()) : dim;
    if (place < 0 || place >= static_cast<std::int64_t>(dims.size())) {
      if (dims.empty() && (dim == 0 || dim == -1)) continue;
      return std::nullopt;
    }
    dims[static_cast<std::size_t>(place)] = 1;
  }
  return product(dims);
}

// reads: the place of the list of dimensions; writes: b truths, i positions, v values and
// positions, 2 two results, s a sum (whole numbers become 64 bits), else the type of the input.
Cost reduction(const Call& call) {
  const Formula& row = call.formula;
  const Tensor* x = call.tensor(0);
  if (x == nullptr) return unknown(Missing::kInputs);
  const bool parts = is_complex(x->dtype);  // both are summed
  if (parts && row.name != "sum" && row.name != "mean") return unknown(Missing::kInputs);
  Cost cost;
  cost.dtype = x->dtype;
  cost.flops = elements(*x) * (parts ? 2 : row.factor);
  const std::size_t place = static_cast<std::size_t>(row.reads.front() - '0');
  const bool takes_list = place < call.size() && call.in.inputs[place].kind == InputKind::kList;
  const bool takes_one = place < call.size() && call.in.inputs[place].kind == InputKind::kScalar;
  Dims gone;
  bool named = true;
  if (takes_list || (takes_one && row.name != "linalg_vector_norm")) {
    // The second argument of the form over all elements is a type, which is a scalar as well.
    const bool is_type = takes_one && call.size() == 2 && row.writes == "s";
    // So is, of a variance, whether it is that of a sample.
    const bool is_sample = takes_one && truth(call.value(place)).has_value();
    if (!is_type && !is_sample) {
      const std::string_view value = call.value(place);
      if (const auto list = whole_numbers(value)) {
        gone = *list;
      } else if (const auto one = whole_number(value)) {
        gone = {*one};
      } else {
        named = false;
      }
    }
  }
  const auto count = named ? left(*x, gone) : std::optional<Amount>();
  if (!count) {
    cost.missing = named ? Missing::kInputs : Missing::kValues;
    if (named) return unknown(Missing::kInputs);
    return cost;
  }
  const bool whole = x->dtype != Dtype::kUnknown && x->dtype <= Dtype::kInt64;
  Dtype out = x->dtype;
  if (row.writes == "s" && whole) out = Dtype::kInt64;
  if (row.writes == "b") out = Dtype::kBool;
  if (row.writes == "i") out = Dtype::kInt64;
  // A result type that was asked for comes last of the named arguments.
  const std::size_t asked = call.size() == 2 ? 1 : 3;
  if (row.writes == "s" && call.size() >= 2) {
    if (const auto code = whole_number(call.value(asked))) out = dtype_of_code(*code);
  }
  cost.bytes = bytes(*x) + bytes(*count, out);
  if (row.writes == "v" && call.size() > 1) cost.bytes += *count * 8;
  if (row.writes == "2") cost.bytes += bytes(*count, out);
  return cost;
}

// One pass that gives a result of the same size.
Cost running(const Call& call) {
  const Tensor* x = call.tensor(0);
  if (x == nullptr) return unknown(Missing::kInputs);
  const bool whole = x->dtype != Dtype::kUnknown && x->dtype <= Dtype::kInt64;
  Cost cost;
  cost.dtype = x->dtype;
  cost.flops = elements(*x) * call.formula.factor;
  cost.bytes = bytes(*x) + bytes(elements(*x), whole ? Dtype::kInt64 : x->dtype);
  return cost;
}

constexpr auto kReductionsFamily = Family::kReduction;
constexpr std::array kReductionsFormulas = std::to_array<Formula>({
    {"sum", kReductionsFamily, reduction, 1, "1", "s"},
    {"nansum", kReductionsFamily, reduction, 1, "1", "s"},
    {"prod", kReductionsFamily, reduction, 1, "1", "s"},
    {"mean", kReductionsFamily, reduction, 1, "1", "s"},
    {"max", kReductionsFamily, reduction, 1, "1", "v"},
    {"min", kReductionsFamily, reduction, 1, "1", "v"},
    {"amax", kReductionsFamily, reduction, 1, "1"},
    {"amin", kReductionsFamily, reduction, 1, "1"},
    {"argmax", kReductionsFamily, reduction, 1, "1", "i"},
    {"argmin", kReductionsFamily, reduction, 1, "1", "i"},
    {"any", kReductionsFamily, reduction, 1, "1", "b"},
    {"all", kReductionsFamily, reduction, 1, "1", "b"},
    {"logsumexp", kReductionsFamily, reduction, 3, "1"},
    {"linalg_vector_norm", kReductionsFamily, reduction, 2, "2"},
    {"var", kReductionsFamily, reduction, 4, "1"},
    {"std", kReductionsFamily, reduction, 4, "1"},
    {"var_mean", kReductionsFamily, reduction, 4, "1", "2"},
    {"std_mean", kReductionsFamily, reduction, 4, "1", "2"},
    {"count_nonzero", kReductionsFamily, reduction, 1, "1", "i"},
    {"cumsum", kReductionsFamily, running},
    {"cumprod", kReductionsFamily, running},
    {"_logcumsumexp", kReductionsFamily, running, 4},
});

}  // namespace

std::span<const Formula> reduction_formulas() { return kReductionsFormulas; }

}  // namespace stepscope::analysis
