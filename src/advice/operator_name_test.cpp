// Names of operators as findings show them.
#include <gtest/gtest.h>

#include "advice/finding.h"

namespace stepscope::advice {
namespace {

TEST(ReadableName, SaysWhatANodeIsTheBackwardPassOf) {
  const struct {
    const char *name, *read;
  } cases[] = {
      {"autograd::engine::evaluate_function: MulBackward0", "backward of mul"},
      {"NativeLayerNormBackward0", "backward of native_layer_norm"},
      {"autograd::engine::evaluate_function: torch::autograd::AccumulateGrad",
       "adding up gradients"},
      {"autograd::engine::evaluate_function: T5Backward1", "backward of t5"},
      {"CompiledFunctionBackward", "backward of compiled_function"},
      // Not a node of autograd: as it is.
      {"aten::convolution_backward", "aten::convolution_backward"},
      {"aten::item", "aten::item"},
      {"Backward", "Backward"},
      {"train.py(3): MyBackward0", "train.py(3): MyBackward0"},
      {"", ""},
  };
  for (const auto& c : cases) EXPECT_EQ(readable_name(c.name), c.read) << c.name;
}

}  // namespace
}  // namespace stepscope::advice
