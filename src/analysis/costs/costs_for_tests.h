// Calls of operators as a trace tells of them, with what was counted by hand.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include <gtest/gtest.h>

#include "analysis/costs/costs.h"

namespace stepscope::analysis {

struct CostCase {
  const char* about;
  const char* op;
  const char* dims;
  const char* types;
  const char* values;
  std::optional<std::int64_t> flops, bytes;
  Missing missing = Missing::kNothing;
  const char* strides = "";
};

inline Cost cost(const CostCase& c) {
  const Formula* formula = find_formula(c.op);
  if (formula == nullptr) return unknown(Missing::kFormula);
  return cost_of(*formula, c.op, read_inputs(c.dims, c.types, c.strides, c.values));
}

inline void check(std::span<const CostCase> cases) {
  for (const CostCase& c : cases) {
    SCOPED_TRACE(std::string(c.op) + ": " + c.about);
    const Cost got = cost(c);
    EXPECT_EQ(got.flops.value(), c.flops);
    EXPECT_EQ(got.bytes.value(), c.bytes);
    EXPECT_EQ(name_of(got.missing), name_of(c.missing));
  }
}

}  // namespace stepscope::analysis
