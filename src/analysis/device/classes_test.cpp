#include "analysis/device/classes.h"

#include <gtest/gtest.h>

namespace stepscope::analysis {
namespace {

TEST(Classes, KnowTheCallsOfBackends) {
  for (const char* op : {"nccl:all_reduce", "gloo:broadcast", "record_param_comms", "mpi:send"}) {
    EXPECT_TRUE(names_communication_call(op)) << op;
  }
  for (const char* op : {"", "nccl", "aten::all", "gloo_all_reduce", "record_param_comms_2"}) {
    EXPECT_FALSE(names_communication_call(op)) << op;
  }
}

TEST(Classes, KnowWhereLoopsWaitForTheirLoader) {
  for (const char* range :
       {"enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__",
        "enumerate(DataPipe)#Mapper", "wait for data#list", "begin loading#list",
        "[pl][profile][_TrainingEpochLoop].train_dataloader_next"}) {
    EXPECT_TRUE(names_data_loading(range)) << range;
  }
  for (const char* range :
       {"", "DataLoader", "enumerate(DataLoader)#_Iter.close", "[pl][profile]run_training_batch",
        "train_dataloader_next", "wait for data"}) {
    EXPECT_FALSE(names_data_loading(range)) << range;
  }
}

}  // namespace
}  // namespace stepscope::analysis
