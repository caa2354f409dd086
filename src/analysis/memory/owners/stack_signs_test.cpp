#include <gtest/gtest.h>

#include "analysis/memory/owners/passes.h"
#include "analysis/memory/snapshot_for_tests.h"

namespace stepscope::analysis {
namespace {

constexpr const char* kModule = "_call_impl@/x/site-packages/torch/nn/modules/module.py";
constexpr const char* kRoot = "<module>@train.py";

struct StackSignsCase {
  const char* what;
  std::initializer_list<std::string> frames;  // innermost first
  Place place;
};

TEST(StackSigns, TellThePlace) {
  const std::initializer_list<StackSignsCase> cases = {
      {"module.to()",
       {"convert@/x/torch/nn/modules/module.py", "_apply@/x/torch/nn/modules/module.py",
        "main@train.py", kRoot},
       Place::kSetup},
      {"a layer made on the device",
       {"__init__@/x/torch/nn/modules/linear.py", "__init__@model.py", kRoot},
       Place::kSetup},
      {"weights initialised", {"_no_grad_normal_@/x/torch/nn/init.py", kRoot}, Place::kSetup},
      {"a layer", {"forward@/x/torch/nn/modules/linear.py", kModule, kRoot}, Place::kForward},
      {"a loss", {"cross_entropy@/x/torch/nn/functional.py", kRoot}, Place::kForward},
      {"backward called",
       {"_make_grads@/x/torch/autograd/__init__.py", "backward@/x/torch/_tensor.py", kRoot},
       Place::kBackward},
      {"a backward written in Python",
       {"backward@ops.py", "apply@/x/torch/autograd/function.py"},
       Place::kBackward},
      {"a hook called by the engine", {"hook@train.py"}, Place::kBackward},
      {"the engine",
       {"at::mm()@??", "torch::autograd::Engine::evaluate_function(int)@??"},
       Place::kBackward},
      {"recomputed, not reentrant",
       {"forward@/x/torch/nn/modules/linear.py", kModule,
        "recompute_fn@/x/torch/utils/checkpoint.py", "unpack_hook@/x/torch/utils/checkpoint.py"},
       Place::kRecompute},
      {"recomputed, reentrant",
       {"forward@model.py", kModule, "backward@/x/torch/utils/checkpoint.py",
        "apply@/x/torch/autograd/function.py"},
       Place::kRecompute},
      {"checkpointed, the first time",
       {"forward@model.py", kModule, "forward@/x/torch/utils/checkpoint.py",
        "checkpoint@/x/torch/utils/checkpoint.py", kRoot},
       Place::kForward},
      {"noted modules", {"blocks.3 (Block)@", "GPT@", "forward pass@"}, Place::kForward},
      {"noted modules, recomputed", {"GPT@", "forward pass@", "backward pass@"}, Place::kRecompute},
      {"a noted step of the optimizer", {"optimizer step@"}, Place::kOptimizer},
      {"noted to be elsewhere", {"outside of modules@"}, Place::kProgram},
      {"optimizer",
       {"_multi_tensor_adam@/x/torch/optim/adam.py", "step@/x/torch/optim/adam.py", kRoot},
       Place::kOptimizer},
      {"clipping", {"clip_grad_norm_@/x/torch/nn/utils/clip_grad.py", kRoot}, Place::kOptimizer},
      {"a step the optimizer calls",
       {"training_step@model.py", "closure@/x/lightning/loops/closure.py",
        "step@/x/torch/optim/adam.py", kRoot},
       Place::kProgram},
      {"a batch", {"pin@/x/torch/utils/data/_utils/pin_memory.py", kRoot}, Place::kInput},
      {"a batch moved by a trainer", {"_prepare_input@trainer.py", kRoot}, Place::kInput},
      {"a collective within forward",
       {"all_gather_into_tensor@/x/torch/distributed/distributed_c10d.py", "pre_forward@fsdp.py",
        kModule, kRoot},
       Place::kCommunication},
      {"a layer of a sharded model",
       {"forward@/x/torch/nn/modules/linear.py", kModule,
        "forward@/x/torch/distributed/fsdp/fully_sharded_data_parallel.py", kModule, kRoot},
       Place::kForward},
      {"the program", {"main@train.py", kRoot}, Place::kProgram},
      {"a program in a folder called optimizer",
       {"main@/w/optimizer/train.py", "<module>@/w/optimizer/train.py"},
       Place::kOptimizer},
      {"nothing", {}, Place::kNoStack},
  };
  SnapshotForTests made;
  for (const StackSignsCase& one : cases) made.stack(one.frames);
  const memory::Snapshot snapshot = made.make();
  const std::vector<StackSign> signs = stack_signs(snapshot);
  ASSERT_EQ(signs.size(), cases.size());
  std::size_t i = 0;
  for (const StackSignsCase& one : cases) {
    EXPECT_EQ(static_cast<int>(signs[i++].place), static_cast<int>(one.place)) << one.what;
  }
}

TEST(StackSigns, KnowWorkspacesAndStates) {
  SnapshotForTests made;
  made.stack({"at::cuda::setWorkspaceForHandle(cublasContext*)@??",
              "forward@/x/torch/nn/modules/linear.py", kRoot});
  made.stack({"_init_group@/x/torch/optim/adam.py", "step@/x/torch/optim/adam.py", kRoot});
  made.stack({"foreach_reduce@/x/torch/distributed/fsdp/_fully_shard/_fsdp_collectives.py"});
  made.stack({"_apply@/x/torch/nn/modules/module.py", kRoot});
  const memory::Snapshot snapshot = made.make();
  const std::vector<StackSign> signs = stack_signs(snapshot);
  EXPECT_TRUE(signs[0].is_workspace);
  EXPECT_TRUE(signs[1].makes_state);
  EXPECT_TRUE(signs[2].reduces);
  EXPECT_TRUE(signs[3].moves_module);
}

TEST(StackSigns, CutStacksDoNotLookLikeTheEngine) {
  SnapshotForTests made;
  made.stack({"main@train.py"});
  made.stack({"forward@model.py"});
  const memory::Snapshot snapshot = made.make();
  const std::vector<StackSign> signs = stack_signs(snapshot);
  EXPECT_EQ(static_cast<int>(signs[0].place), static_cast<int>(Place::kProgram));
  EXPECT_EQ(static_cast<int>(signs[1].place), static_cast<int>(Place::kForward));
}

}  // namespace
}  // namespace stepscope::analysis
