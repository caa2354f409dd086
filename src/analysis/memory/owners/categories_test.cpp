#include "analysis/memory/owners/categories.h"

#include <map>
#include <string>

#include <gtest/gtest.h>

#include "analysis/memory/snapshot_for_tests.h"

namespace stepscope::analysis {
namespace {

using memory::Action;

// A training loop: every allocation has a name, frees name it again.
class CategoriesLoop {
 public:
  explicit CategoriesLoop(bool frees_have_stacks = true) : frees_have_stacks_(frees_have_stacks) {
    const std::string root = "<module>@train.py";
    const std::string call = "_call_impl@/x/torch/nn/modules/module.py";
    stacks_["setup"] = made_.stack({"_apply@/x/torch/nn/modules/module.py", root});
    stacks_["forward"] = made_.stack({"forward@model.py", call, root});
    stacks_["other forward"] = made_.stack({"forward@rotary.py", call, root});
    stacks_["recompute"] =
        made_.stack({"forward@model.py", call, "unpack_hook@/x/torch/utils/checkpoint.py"});
    stacks_["program"] = made_.stack({"main@train.py", root});
    stacks_["backward call"] = made_.stack({"backward@/x/torch/_tensor.py", "main@train.py", root});
    stacks_["backward"] = made_.stack({});
    stacks_["state"] = made_.stack({"_init_group@/x/torch/optim/adam.py", root});
    stacks_["step"] = made_.stack({"adam@/x/torch/optim/adam.py", root});
    stacks_["zero"] = made_.stack({"zero_grad@/x/torch/optim/optimizer.py", root});
    stacks_["gather"] = made_.stack({"all_gather@/x/torch/distributed/distributed_c10d.py", root});
  }
  CategoriesLoop& make(const std::string& name, const std::string& where, base::Bytes size) {
    next_ += 1 << 30;
    alive_[name] = {next_, size};
    order_.push_back(name);
    made_.event({Action::kAlloc, next_, size, stacks_.at(where)});
    return *this;
  }
  CategoriesLoop& free(const std::string& name, const std::string& where) {
    const auto [address, size] = alive_.at(name);
    const memory::StackId stack = frees_have_stacks_ ? stacks_.at(where) : memory::kNoStack;
    made_.event({Action::kFreeRequested, address, size, stack});
    made_.event({Action::kFreeCompleted, address, size, stack});
    return *this;
  }
  SnapshotForTests& made() { return made_; }
  std::map<std::string, Category> judged() {
    const memory::Snapshot snapshot = made_.make();
    const Allocations allocations = find_allocations(snapshot, snapshot.histories[0]);
    const Categories categories = categorise(snapshot, snapshot.histories[0], allocations);
    std::map<std::string, Category> out;
    for (std::size_t i = 0; i < order_.size(); ++i) out[order_[i]] = categories.category[i];
    return out;
  }

 private:
  SnapshotForTests made_;
  bool frees_have_stacks_;
  std::uint64_t next_ = 0;
  std::map<std::string, memory::StackId> stacks_;
  std::map<std::string, std::pair<std::uint64_t, base::Bytes>> alive_;
  std::vector<std::string> order_;
};

void add_step(CategoriesLoop& loop, const std::string& n, bool first) {
  loop.make("batch" + n, "program", 64);
  if (first) loop.make("cache", "other forward", 77);
  loop.make("hidden" + n, "forward", 400).make("scratch" + n, "forward", 30);
  if (first) loop.make("blas", "forward", 32 << 20);
  loop.free("scratch" + n, "forward");
  loop.make("logits" + n, "program", 50).make("loss" + n, "forward", 4);
  loop.make("one" + n, "backward call", 4);
  loop.make("flow" + n, "backward", 400).make("again" + n, "recompute", 401);
  if (first) loop.make("blas2", "backward", 32 << 20);
  loop.make("grad" + n, "backward", 1000).free("hidden" + n, "backward");
  loop.free("flow" + n, "backward").make("short" + n, "backward", 9);
  loop.free("again" + n, "backward").free("short" + n, "backward");
  loop.free("logits" + n, "backward").free("one" + n, "backward call");
  if (first) loop.make("exp_avg", "state", 1000);
  loop.make("update" + n, "step", 1000).free("update" + n, "step");
  loop.free("grad" + n, "zero").free("batch" + n, "program").free("loss" + n, "program");
}

void expect_judged(std::map<std::string, Category> judged) {
  const std::map<std::string, Category> expected = {
      {"weight", Category::kParameters},    {"exp_avg", Category::kOptimizerState},
      {"grad1", Category::kGradients},      {"grad3", Category::kGradients},
      {"hidden1", Category::kActivations},  {"hidden3", Category::kActivations},
      {"again2", Category::kActivations},   {"logits1", Category::kActivations},
      {"loss1", Category::kActivations},    {"batch1", Category::kInputs},
      {"batch3", Category::kInputs},        {"scratch2", Category::kTemporaries},
      {"update1", Category::kTemporaries},  {"short2", Category::kTemporaries},
      {"blas", Category::kTemporaries},     {"blas2", Category::kTemporaries},
      {"flow1", Category::kAutogradDetail}, {"one2", Category::kAutogradDetail},
      {"cache", Category::kUnknown},
  };
  for (const auto& [name, category] : expected) {
    ASSERT_TRUE(judged.contains(name)) << name;
    EXPECT_EQ(name_of(judged[name]), name_of(category)) << name;
  }
}

TEST(Categories, OfATrainingLoop) {
  CategoriesLoop loop;
  loop.make("weight", "setup", 1000);
  add_step(loop, "1", true);
  add_step(loop, "2", false);
  add_step(loop, "3", false);
  expect_judged(loop.judged());
}

TEST(Categories, OfATrainingLoopWhoseFreesHaveNoStacks) {
  CategoriesLoop loop(false);
  loop.make("weight", "setup", 1000);
  add_step(loop, "1", true);
  add_step(loop, "2", false);
  add_step(loop, "3", false);
  expect_judged(loop.judged());
}

// An optimizer that asks for no memory leaves no stack between backward and zero_grad.
TEST(Categories, GradientsAreKnownByTheOptimizersAnnotations) {
  CategoriesLoop loop(false);
  loop.make("weight", "setup", 1000);   // event 0, at 1000 ns
  loop.make("hidden", "forward", 400);  // 1
  loop.make("grad", "backward", 1000);  // 2
  loop.free("hidden", "backward");      // 3, 4: until 5000 ns
  loop.made().annotate("Optimizer.step#SGD.step", 5500, true);
  loop.free("grad", "zero");          // 5, 6
  loop.make("next", "forward", 400);  // 7
  std::map<std::string, Category> judged = loop.judged();
  EXPECT_EQ(name_of(judged["grad"]), "gradients");
  EXPECT_EQ(name_of(judged["hidden"]), "activations");
}

TEST(Categories, OutOfMemoryInTheForwardLeavesActivations) {
  CategoriesLoop loop;
  loop.make("weight", "setup", 1000).make("hidden", "forward", 400).make("short", "forward", 9);
  loop.free("short", "forward");
  std::map<std::string, Category> judged = loop.judged();
  EXPECT_EQ(name_of(judged["hidden"]), "activations");
  EXPECT_EQ(name_of(judged["short"]), "temporaries");
  EXPECT_EQ(name_of(judged["weight"]), "parameters");
}

TEST(Categories, OutOfMemoryInTheBackwardTellsGradientsByTheirSize) {
  CategoriesLoop loop;
  loop.make("weight", "setup", 1000).make("hidden", "forward", 400);
  loop.make("flow", "backward", 400).make("grad", "backward", 1000);
  std::map<std::string, Category> judged = loop.judged();
  EXPECT_EQ(name_of(judged["grad"]), "gradients");
  EXPECT_EQ(name_of(judged["flow"]), "autograd detail");
}

TEST(Categories, LeakedActivationsStayActivations) {
  CategoriesLoop loop;
  loop.make("weight", "setup", 1000);
  for (const char* n : {"1", "2", "3", "4"}) {
    loop.make(std::string("kept") + n, "forward", 50);
    loop.make(std::string("grad") + n, "backward", 1000).free(std::string("grad") + n, "zero");
  }
  std::map<std::string, Category> judged = loop.judged();
  EXPECT_EQ(name_of(judged["kept1"]), "activations");
  EXPECT_EQ(name_of(judged["kept4"]), "activations");
}

TEST(Categories, WithoutStacksNothingIsGuessed) {
  SnapshotForTests made;
  made.event({Action::kAlloc, 512, 10}).event({Action::kAlloc, 1024, 10});
  const memory::Snapshot snapshot = made.make();
  const Allocations allocations = find_allocations(snapshot, snapshot.histories[0]);
  const Categories categories = categorise(snapshot, snapshot.histories[0], allocations);
  EXPECT_EQ(categories.category, (std::vector<Category>(2, Category::kUnknown)));
  EXPECT_EQ(text_of(categories.reason[0]), "no stacks were recorded");
}

TEST(Categories, WhatIsOlderIsKnownByTheStackOfItsBlock) {
  SnapshotForTests made;
  const auto setup = made.stack({"_apply@/x/torch/nn/modules/module.py", "<module>@train.py"});
  made.segment({{512, 512, 500, memory::BlockState::kActive, setup},
                {1024, 512, 500, memory::BlockState::kActive}});
  const memory::Snapshot snapshot = made.make();
  const Allocations allocations = find_allocations(snapshot, snapshot.histories[0]);
  const Categories categories = categorise(snapshot, snapshot.histories[0], allocations);
  EXPECT_EQ(categories.category,
            (std::vector<Category>{Category::kParameters, Category::kUnknown}));
}

TEST(Categories, GatheredMemoryIsCommunication) {
  CategoriesLoop loop;
  loop.make("weight", "setup", 1000).make("all", "gather", 400).make("hidden", "forward", 400);
  std::map<std::string, Category> judged = loop.judged();
  EXPECT_EQ(name_of(judged["all"]), "communication");
}

TEST(Categories, EventsWithoutStacksWhoseBlocksHaveThem) {
  SnapshotForTests made;
  const memory::StackId setup =
      made.stack({"_apply@/x/torch/nn/modules/module.py", "<module>@train.py"});
  const memory::StackId forward =
      made.stack({"forward@model.py", "_call_impl@/x/torch/nn/modules/module.py"});
  made.event({Action::kAlloc, 512, 100}).event({Action::kAlloc, 1024, 100});
  made.segment({memory::Block{512, 512, 100, memory::BlockState::kActive, setup},
                memory::Block{1024, 512, 100, memory::BlockState::kActive, forward}});
  const memory::Snapshot snapshot = made.make();
  const Allocations allocations = find_allocations(snapshot, snapshot.histories[0]);
  const Categories judged = categorise(snapshot, snapshot.histories[0], allocations);
  EXPECT_EQ(judged.category[0], Category::kParameters);
  EXPECT_EQ(judged.category[1], Category::kUnknown);
  EXPECT_EQ(judged.reason[1], Reason::kNoStacks);
}

}  // namespace
}  // namespace stepscope::analysis
