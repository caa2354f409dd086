// The rows of a roofline: what is added up together.
#pragma once

#include <compare>
#include <map>
#include <string>

#include "analysis/costs/roofline_sums.h"
#include "analysis/view.h"

namespace stepscope::analysis {

struct RoofKey {
  static constexpr int kNoArithmetic = -1;

  std::string name;    // of the operator or kernel
  std::string detail;  // the operator's inputs, the kernel's operator
  int arithmetic = kNoArithmetic;
  Family family = Family::kCount;
  Missing missing = Missing::kNothing;
  bool by_profiler = false;  // who counted the FLOPs
  auto operator<=>(const RoofKey&) const = default;
};
using RoofTable = std::map<RoofKey, RoofSums>;

struct RoofRows {
  RoofTable operators, kernels;
  base::Nanos compute_ns = 0, known_ns = 0;
  std::uint64_t calls_by_profiler = 0;

  void merge(const RoofRows& other);
};
RoofRows roof_rows(const RunView& view, const WindowView& window);

}  // namespace stepscope::analysis
