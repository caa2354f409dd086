// The shapes of the tables of the operators analysis: what a call costs, behind what it is grouped
// by.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include "analysis/key_columns.h"
#include "base/table.h"

namespace stepscope::analysis::operator_columns {

using base::ColumnShape;
using base::Type;
using base::Unit;

inline constexpr ColumnShape kName{
    "name", Type::kText, Unit::kNone,
    "of the operator; in parentheses: device work of no operator; null: all "
    "the others together"};
inline constexpr ColumnShape kCalls{"calls", Type::kInt, Unit::kCount, "how often it was called"};
inline constexpr std::array kCosts = std::to_array<ColumnShape>({
    {"device_self_ns", Type::kInt, Unit::kNanos,
     "lengths of the kernels, copies and memsets that it launched itself, added"},
    {"device_self_share", Type::kReal, Unit::kShare, "of device_self_ns of all rows of this rank"},
    {"device_total_ns", Type::kInt, Unit::kNanos,
     "the same, launched by operators inside it too; inside a call of its own name counted once"},
    {"tensor_cores", Type::kText, Unit::kNone,
     "whether its own kernels use tensor cores: yes, no, mixed, unknown (names do not say it); "
     "nothing where it multiplies no matrices and names leave no doubt"},
    {"host_self_ns", Type::kInt, Unit::kNanos,
     "time in it and not in an operator that it called; its calls into the GPU runtime included"},
    {"host_total_ns", Type::kInt, Unit::kNanos, "from its start to its end"},
    {"host_self_share", Type::kReal, Unit::kShare, "of host_self_ns of all rows of this rank"},
    {"tensor_core_share", Type::kReal, Unit::kShare,
     "of device_self_ns in kernels that use tensor cores; null: unknown"},
    {"tensor_core_eligible", Type::kBool, Unit::kNone,
     "whether it computes matrix products of types that this GPU's tensor cores take"},
    {"device_mean_ns", Type::kReal, Unit::kNanos,
     "device_total_ns of a call; inside one of its own name it is none"},
    {"host_mean_ns", Type::kReal, Unit::kNanos,
     "host_total_ns of a call; inside one of its own name it is none"},
    {"runtime_ns", Type::kInt, Unit::kNanos,
     "of host_self_ns in calls into the GPU's runtime and driver"},
    {"work_count", Type::kInt, Unit::kCount, "kernels, copies and memsets it launched itself"},
    {"host_memory_self_bytes", Type::kInt, Unit::kBytes,
     "host memory it allocated itself, less what it freed"},
    {"host_memory_bytes", Type::kInt, Unit::kBytes, "the same with the operators inside it"},
    {"device_memory_self_bytes", Type::kInt, Unit::kBytes,
     "device memory it allocated itself, less what it freed"},
    {"device_memory_bytes", Type::kInt, Unit::kBytes, "the same with the operators inside it"},
});

inline constexpr ColumnShape kTypes{"types", Type::kText, Unit::kNone, "of each input"};

template <std::size_t Before, std::size_t After = 0>
constexpr auto with_costs(const std::array<ColumnShape, Before>& before,
                          const std::array<ColumnShape, After>& after = {}) {
  std::array<ColumnShape, Before + kCosts.size() + After> all{};
  auto* next = std::ranges::copy(before, all.begin()).out;
  next = std::ranges::copy(kCosts, next).out;
  std::ranges::copy(after, next);
  return all;
}
inline constexpr auto kOperatorColumns =
    with_costs(std::to_array<ColumnShape>({key::kRank, kName, kCalls}));
inline constexpr auto kShapeColumns =
    with_costs(std::to_array<ColumnShape>(
                   {key::kRank,
                    kName,
                    {"shapes", Type::kText, Unit::kNone,
                     "dimensions of each input, [] for what is no tensor; null: not recorded"},
                    kCalls}),
               std::to_array<ColumnShape>({kTypes}));
inline constexpr auto kStackColumns = with_costs(std::to_array<ColumnShape>(
    {key::kRank,
     kName,
     {"stack", Type::kText, Unit::kNone,
      "Python frames around the call, the innermost first; null: none recorded"},
     kCalls}));
inline constexpr std::array kTensorCoreColumns = std::to_array<ColumnShape>({
    key::kRank,
    {"operators", Type::kText, Unit::kNone,
     "matrix products: operators that tensor cores can speed up; others: the rest"},
    {"device_ns", Type::kInt, Unit::kNanos, "lengths of the device work they launched themselves"},
    {"used_ns", Type::kInt, Unit::kNanos, "of it in kernels that use tensor cores"},
    {"not_used_ns", Type::kInt, Unit::kNanos, "in kernels that do not, copies and memsets too"},
    {"plain_ns", Type::kInt, Unit::kNanos,
     "of not_used_ns in matrix products by plain multiply-add; the rest turns layouts round, adds "
     "parts up, copies"},
    {"unknown_ns", Type::kInt, Unit::kNanos, "in kernels whose name does not say it"},
    {"used_share", Type::kReal, Unit::kShare, "of device_ns in kernels that use tensor cores"},
});
inline constexpr std::array<std::string_view, 1> kBar = {"device_self_ns"};
inline constexpr std::array kOperatorTables = std::to_array<base::TableShape>({
    {"operators",
     "operators of one name on one rank, the longest on the device first",
     kOperatorColumns,
     {base::Chart::kBars, "name", kBar, "rank"}},
    {"shapes", "operators of one name with inputs of the same shapes and types", kShapeColumns},
    {"stacks", "operators of one name called from one place", kStackColumns},
    {"tensor_cores", "device work of operators that multiply matrices, or of the others",
     kTensorCoreColumns},
});

}  // namespace stepscope::analysis::operator_columns
