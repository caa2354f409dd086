#include <gtest/gtest.h>

#include "analysis/host/module_tree.h"

namespace stepscope::analysis {
namespace {

TEST(ModuleNames, APythonFrameNamesOneInstance) {
  EXPECT_EQ(python_module("nn.Module: Linear_3"), (ModulePath{{"Linear_3", "Linear"}}));
  EXPECT_EQ(python_module("nn.Module: My_Net_12"), (ModulePath{{"My_Net_12", "My_Net"}}));
  EXPECT_EQ(python_module("nn.Module: Net"), (ModulePath{{"Net", "Net"}}));
  EXPECT_EQ(python_module("nn.Module: Net_"), (ModulePath{{"Net_", "Net_"}}));
  EXPECT_EQ(python_module("nn.Module: _1"), (ModulePath{{"_1", "_1"}}));
  EXPECT_TRUE(python_module("nn.Module: ").empty());
  EXPECT_TRUE(python_module("torch/nn/modules/module.py(1): forward").empty());
}

TEST(ModuleNames, AHierarchyNamesThePathWithoutItsMethods) {
  EXPECT_EQ(module_hierarchy("TOP(C)::forward.A0(A)::forward.SELF(A)::impl_."),
            (ModulePath{{"TOP", "C"}, {"A0", "A"}}));
  EXPECT_EQ(module_hierarchy("TOP(ResNet).layer1(Sequential).0(Bottleneck)"),
            (ModulePath{{"TOP", "ResNet"}, {"layer1", "Sequential"}, {"0", "Bottleneck"}}));
  EXPECT_EQ(module_hierarchy("TOP(a.b.C)::forward."), (ModulePath{{"TOP", "a.b.C"}}));
  EXPECT_TRUE(module_hierarchy("").empty());
  EXPECT_TRUE(module_hierarchy("no parentheses.(x).y(").empty());
}

TEST(ModuleNames, ALightningRangeNamesTypeAndPath) {
  EXPECT_EQ(lightning_module("[pl][module]torch.nn.modules.linear.Linear: model.encoder.0"),
            (ModulePath{{"model", ""}, {"encoder", ""}, {"0", "Linear"}}));
  EXPECT_TRUE(lightning_module("[pl][profile]run_training_batch").empty());
  EXPECT_TRUE(lightning_module("[pl][module]Linear").empty());
  EXPECT_TRUE(lightning_module("[pl][module]Linear: ").empty());
}

}  // namespace
}  // namespace stepscope::analysis
