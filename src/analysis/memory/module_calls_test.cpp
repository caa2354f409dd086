#include "analysis/memory/module_calls.h"

#include <gtest/gtest.h>

#include "analysis/memory/snapshot_for_tests.h"

namespace stepscope::analysis {
namespace {

TEST(ModuleCalls, AreNamedByTheLineThatCalls) {
  SnapshotForTests made;
  const std::string call = "_call_impl@/x/torch/nn/modules/module.py";
  const std::string wrapped = "_wrapped_call_impl@/x/torch/nn/modules/module.py";
  const memory::StackId deep =
      made.stack({"at::empty@??", "linear@/x/torch/nn/functional.py",
                  "forward@/x/torch/nn/modules/linear.py", call, wrapped, "forward@/w/block.py",
                  call, wrapped, "forward@/w/model.py", call, wrapped, "main@/w/train.py"});
  const memory::StackId listed =
      made.stack({"forward@/x/torch/nn/modules/linear.py", call,
                  "forward@/x/torch/nn/modules/container.py", call, "main@train.py"});
  const memory::StackId none = made.stack({"to@/x/torch/nn/modules/module.py", "main@train.py"});
  const memory::Snapshot snapshot = made.make();
  ModuleCalls all(snapshot, 0);
  EXPECT_EQ(all.path(deep), "train.py:1 / model.py:1 / block.py:1 / linear");
  EXPECT_EQ(all.path(listed), "train.py:1 / linear");
  EXPECT_EQ(all.path(none), "");
  EXPECT_EQ(all.path(memory::kNoStack), "");
  ModuleCalls two(snapshot, 2);
  EXPECT_EQ(two.path(deep), "train.py:1 / model.py:1");
}

}  // namespace
}  // namespace stepscope::analysis
