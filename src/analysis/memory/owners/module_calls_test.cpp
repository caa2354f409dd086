#include <gtest/gtest.h>

#include "analysis/memory/owners/allocation_owners.h"
#include "analysis/memory/owners/representative_frame.h"
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

TEST(ModuleCalls, AreThoseThatWereNoted) {
  SnapshotForTests made;
  const memory::StackId deep = made.stack({"attn (A)@", "blocks.3 (B)@", "GPT@", "forward pass@"});
  const memory::StackId again = made.stack({"blocks.3 (B)@", "forward pass@", "backward pass@"});
  const memory::StackId none = made.stack({"outside of modules@"});
  const memory::Snapshot snapshot = made.make();
  ModuleCalls all(snapshot, 0);
  EXPECT_EQ(all.path(deep), "GPT / blocks.3 (B) / attn (A)");
  EXPECT_EQ(all.path(again), "blocks.3 (B)");
  EXPECT_EQ(all.path(none), "");
  EXPECT_EQ(ModuleCalls(snapshot, 2).path(deep), "GPT / blocks.3 (B)");
  const StackTexts texts(snapshot);
  EXPECT_EQ(texts.representative(deep), "GPT / blocks.3 (B) / attn (A)");
  EXPECT_EQ(texts.folded(deep), "forward pass;GPT;blocks.3 (B);attn (A)");
  EXPECT_EQ(texts.representative(none), "outside of modules");
}

}  // namespace
}  // namespace stepscope::analysis
