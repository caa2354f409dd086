#include "analysis/device/classes.h"

#include <gtest/gtest.h>

namespace stepscope::analysis {
namespace {

TEST(Classes, KnowTheKernelsOfCommunicationLibraries) {
  for (const char* kernel :
       {"ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)",
        "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
        "void ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)", "rcclGenericKernel<1>",
        "void vllm::cross_device_reduce_1stage<__half, 2>(vllm::RankData*)",
        "void deep_ep::internode::dispatch<false>()", "mscclpp::allreduce7",
        "void c10d::symmetric_memory::multimem_all_reduce_kernel<float>()",
        "oneccl_allreduce_small", "nvshmemi_transfer_rma", "hcclAllReduce"}) {
    EXPECT_TRUE(names_communication_kernel(kernel)) << kernel;
  }
}

TEST(Classes, DoNotTakeOtherKernelsForCommunication) {
  for (const char* kernel :
       {"", "void ", "gemm", "hipLaunchKernel", "triton_poi_fused_addmask_0",
        "void at::native::reduce_kernel<512, 1>()", "SyncBatchNorm_forward",
        "void at::native::elementwise_kernel<gather>()", "Memcpy DtoD (Device -> Device)"}) {
    EXPECT_FALSE(names_communication_kernel(kernel)) << kernel;
  }
}

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
