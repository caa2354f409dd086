// Rows of two sides, matched and judged.
#pragma once

#include <optional>
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

// What a row took in each step of either side. Empty where it is not known.
struct RowSteps {
  std::vector<double> before = {}, after = {};
};
// One row: times per step.
struct RowTimes {
  double before_ns = 0, after_ns = 0;
  RowSteps steps = {};
};
struct RowVerdict {
  std::string_view verdict;                       // slower, faster, same or unsure
  std::optional<double> error_ns = std::nullopt;  // of the change; nothing: too few steps
};
// How rows of one table are judged: all of them together are wrong by chance as often as one figure
// alone would be.
class Verdicts {
 public:
  // `rows`: how many are judged. `one_run`: both sides are of the same run.
  Verdicts(double step_ns, std::size_t rows, bool one_run);
  RowVerdict judge(const RowTimes& row) const;

 private:
  double step_ns_;
  Certainty certainty_;
};

// What an operator is called without the name of its library: the convolutions of cudnn
// and miopen are one operator, and so are the kinds of fused attention.
std::string operator_family(std::string_view name);

void add_kernels(base::Table& table, const SideRank& before, const SideRank& after, bool one_run);
void add_operators(base::Table& table, const SideRank& before, const SideRank& after, bool one_run);

}  // namespace stepscope::analysis
