// Rows of two sides, matched and judged.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/compare/diff.h"
#include "base/table.h"

namespace stepscope::analysis {

// One side's rank, and what its sums are divided by.
struct SideRank {
  const Side* side = nullptr;
  std::int64_t rank = 0;
  double steps = 1;
  double step_ns = 0;  // the typical one
};

// Times of less than this share of a step are not worth a word, nor are changes of less than a
// twentieth of themselves.
inline constexpr double kLeastOfStep = 0.001;
inline constexpr double kLeastOfItself = 0.05;
// added, removed, slower, faster or same; times per step.
std::string_view verdict_of(double before_ns, double after_ns, double step_ns);

// What an operator is called without the name of the library behind it: the convolutions of cudnn
// and miopen are one operator, and so are the sorts of fused attention.
std::string operator_family(std::string_view name);

void add_kernels(base::Table& table, const SideRank& before, const SideRank& after);
void add_operators(base::Table& table, const SideRank& before, const SideRank& after);

}  // namespace stepscope::analysis
