#include "analysis/memory/owners/representative_frame.h"

#include <gtest/gtest.h>

#include "analysis/memory/snapshot_for_tests.h"

namespace stepscope::analysis {
namespace {

TEST(RepresentativeFrame, KnowsWhoseFileItIs) {
  for (const char* file : {"/w/a/train.py", "<string>", "model.py", "/w/torch/model.py",
                           "/tmp/ipykernel_12/34.py", "/repo/torchtitan/train.py"}) {
    EXPECT_EQ(origin_of(file), FrameOrigin::kProgram) << file;
  }
  for (const char* file :
       {"/usr/lib/python3.12/site-packages/torch/nn/modules/linear.py",
        "/src/pytorch/torch/optim/adam.py", "/opt/python/dist-packages/torch/_tensor.py"}) {
    EXPECT_EQ(origin_of(file), FrameOrigin::kTorch) << file;
  }
  for (const char* file :
       {"/usr/lib/python3.12/threading.py", "/x/site-packages/transformers/trainer.py",
        "<frozen runpy>", "/tmp/torchinductor_me/ab/cab.py", "<eval_with_key>.12"}) {
    EXPECT_EQ(origin_of(file), FrameOrigin::kLibrary) << file;
  }
  for (const char* file : {"??", "", "memory_snapshot.cpp", "CUDACachingAllocator.h"}) {
    EXPECT_EQ(origin_of(file), FrameOrigin::kCompiled) << file;
  }
}

TEST(RepresentativeFrame, IsTheInnermostOfTheProgram) {
  SnapshotForTests made;
  const auto stack = made.stack({"at::native::empty_cuda(long)@??",
                                 "forward@/p/site-packages/torch/nn/modules/linear.py",
                                 "forward@/w/me/model.py", "main@/w/me/train.py"});
  const auto library = made.stack({"step@/p/site-packages/torch/optim/adam.py",
                                   "step@/p/site-packages/accelerate/optimizer.py"});
  const auto torch = made.stack({"step@/p/site-packages/torch/optim/adam.py"});
  const auto none = made.stack({});
  const memory::Snapshot snapshot = made.make();
  const StackTexts texts(snapshot);
  EXPECT_EQ(texts.representative(stack), "model.py:1 forward");
  EXPECT_EQ(texts.folded(stack), "train.py:1 main;model.py:1 forward;linear.py:1 forward");
  EXPECT_EQ(texts.representative(library), "optimizer.py:1 step");
  EXPECT_EQ(texts.representative(torch), "adam.py:1 step");
  EXPECT_EQ(texts.representative(none), "");
  EXPECT_EQ(texts.representative(memory::kNoStack), "");
  EXPECT_EQ(texts.group(none), texts.group(memory::kNoStack));
}

TEST(RepresentativeFrame, OfCompiledStacksIsTheOperator) {
  SnapshotForTests made;
  const auto node = made.stack({"torch::unwind::unwind()@??", "at::_ops::mm::call(at::Tensor)@??",
                                "torch::autograd::generated::MmBackward0::apply(std::vector<a>&&)@",
                                "torch::autograd::Engine::evaluate_function(int)@??"});
  const auto other =
      made.stack({"torch::unwind::unwind()@??",
                  "void at::native::(anonymous namespace)::sort<float>(at::Tensor const&)@??"});
  const memory::Snapshot snapshot = made.make();
  const StackTexts texts(snapshot);
  EXPECT_EQ(texts.representative(node), "MmBackward0");
  EXPECT_EQ(texts.representative(other), "at::native::(anonymous namespace)::sort");
}

TEST(RepresentativeFrame, StacksThatDifferInCompiledFramesAreOneGroup) {
  SnapshotForTests made;
  const auto a = made.stack({"at::add(long)@??", "forward@model.py"});
  const auto b = made.stack({"at::mul(long)@??", "forward@model.py"});
  const auto c = made.stack({"at::mul(long)@??", "forward@other.py"});
  const memory::Snapshot snapshot = made.make();
  const StackTexts texts(snapshot);
  EXPECT_EQ(texts.group(a), texts.group(b));
  EXPECT_NE(texts.group(a), texts.group(c));
  EXPECT_EQ(texts.groups(), 3u);
  EXPECT_EQ(texts.first_of(texts.group(b)), a);
}

TEST(RepresentativeFrame, StacksThatShareALineAreToldApart) {
  SnapshotForTests made;
  const auto linear = made.stack(
      {"forward@/x/site-packages/torch/nn/modules/linear.py", "forward@model.py", "main@train.py"});
  const auto direct = made.stack({"at::gelu@??", "forward@model.py", "main@train.py"});
  const auto elsewhere = made.stack({"forward@model.py", "check@train.py"});
  const auto alone = made.stack({"load@data.py"});
  const memory::Snapshot snapshot = made.make();
  const StackTexts texts(snapshot);
  EXPECT_EQ(texts.told_apart(std::vector{linear, alone}),
            (std::vector<std::string>{"model.py:1 forward", "data.py:1 load"}));
  EXPECT_EQ(texts.told_apart(std::vector{linear, direct, linear}),
            (std::vector<std::string>{"model.py:1 forward → linear.py:1", "model.py:1 forward",
                                      "model.py:1 forward → linear.py:1"}));
  EXPECT_EQ(texts.told_apart(std::vector{direct, elsewhere}),
            (std::vector<std::string>{"model.py:1 forward ← train.py:1 main",
                                      "model.py:1 forward ← train.py:1 check"}));
}

}  // namespace
}  // namespace stepscope::analysis
