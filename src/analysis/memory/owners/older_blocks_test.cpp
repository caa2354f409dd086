#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "analysis/memory/owners/categories.h"
#include "analysis/memory/snapshot_for_tests.h"

namespace stepscope::analysis {
namespace {

using memory::Action;

struct OlderBlocksCase {
  std::string name;
  std::vector<base::Bytes> blocks;     // older than the history, by address
  std::vector<base::Bytes> gradients;  // made by every backward pass
  std::string optimizer;               // the file of its step
  std::string kinds;                   // p parameter, s state, - unknown
};

const OlderBlocksCase kOlderBlocksCases[] = {
    {"sgd keeps nothing", {100, 200, 100}, {100, 100, 200}, "sgd.py", "ppp"},
    {"momentum", {100, 200, 100, 200}, {100, 200}, "sgd.py", "ppss"},
    {"adam", {100, 200, 100, 200, 100, 200}, {200, 100}, "adam.py", "ppssss"},
    {"others have other sizes", {100, 7, 100, 100, 9}, {100}, "adam.py", "p-ss-"},
    {"scratch of a parameter's size",
     {1 << 20, 1 << 20, 100, 100, 100, 1 << 20, 1 << 20},
     {1 << 20, 100},
     "adam.py",
     "pspsss-"},
    {"one too many", {100, 100, 100, 100, 100}, {100}, "adam.py", "-----"},
    {"buffers of a parameter's size",
     {9000, 9000, 9000, 100, 100, 100, 100},
     {9000, 100},
     "adam.py",
     "pss----"},
    {"one too few", {100, 100, 200, 200, 200}, {100, 200}, "adam.py", "-----"},
    {"an unknown optimizer", {100}, {100}, "mine.py", "-"},
    {"gradients of none of the sizes", {100, 100, 100}, {100, 900}, "adam.py", "---"},
    {"no gradients", {100}, {}, "sgd.py", "-"},
};

memory::Snapshot snapshot_of(const OlderBlocksCase& c) {
  SnapshotForTests made;
  const std::string root = "<module>@train.py";
  const memory::StackId forward =
      made.stack({"forward@model.py", "_call_impl@/x/torch/nn/modules/module.py", root});
  const memory::StackId step = made.stack({"step@/x/torch/optim/" + c.optimizer, root});
  for (std::size_t i = 0; i < c.blocks.size(); ++i) {
    made.segment({memory::Block{.address = (i + 1) << 32,
                                .size = c.blocks[i],
                                .requested = c.blocks[i],
                                .state = memory::BlockState::kActive}});
  }
  for (int pass = 0; pass < 2; ++pass) {
    made.event({Action::kAlloc, 50, 10, forward});
    for (std::size_t g = 0; g < c.gradients.size(); ++g) {
      made.event({Action::kAlloc, 1000 + g, c.gradients[g]});
    }
    made.event({Action::kFreeRequested, 50, 10});
    made.event({Action::kFreeCompleted, 50, 10});
    for (std::size_t g = 0; g < c.gradients.size(); ++g) {
      made.event({Action::kFreeRequested, 1000 + g, c.gradients[g], step});
      made.event({Action::kFreeCompleted, 1000 + g, c.gradients[g], step});
    }
  }
  return made.make();
}

TEST(OlderBlocks, AreToldByTheirNumberOrNotAtAll) {
  for (const OlderBlocksCase& c : kOlderBlocksCases) {
    SCOPED_TRACE(c.name);
    const memory::Snapshot snapshot = snapshot_of(c);
    const memory::History& history = snapshot.histories[0];
    const Allocations allocations = find_allocations(snapshot, history);
    const std::vector<StackSign> signs = stack_signs(snapshot);
    const Passes passes = find_passes(snapshot, history, signs);
    const OlderBlocks older = count_older(snapshot, allocations, passes, signs);
    std::string kinds;
    for (const OlderKind kind : older.kind) {
      kinds += kind == OlderKind::kParameter ? 'p' : kind == OlderKind::kState ? 's' : '-';
    }
    EXPECT_EQ(kinds, c.kinds);
  }
}

}  // namespace
}  // namespace stepscope::analysis
