#include <gtest/gtest.h>

#include "analysis/device/classes.h"

namespace stepscope::analysis {
namespace {

TEST(CommunicationNames, AreKnownByTheirLibrary) {
  for (const char* kernel :
       {"ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)",
        "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
        "void ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)",
        "ncclDevKernel_Generic_1(ncclDevKernelArgsStorage<4096ul>) [clone .kd]",
        "ncclSymDevKernel_AllReduce_AGxLL_R_sum_bf16(ncclSymDevArgs)", "rcclGenericKernel<1>",
        "mscclpp::allreduce7", "void mscclpp::ep::intranode::dispatch<8>(int*)",
        "mscclKernel_Sum_float_Simple", "oneccl_allreduce_small", "nvshmemi_transfer_rma",
        "void nvshmemi_proxy_rma_entrypoint<true>(int)", "rocshmem_ctx_putmem", "hcclAllReduce",
        "hcom_allReduce__503_96_4", "xcclAllReduce"}) {
    EXPECT_TRUE(names_communication_kernel(kernel)) << kernel;
  }
}

TEST(CommunicationNames, AreKnownWhereExpertsAreOnOtherRanks) {
  for (const char* kernel :
       {"void deep_ep::intranode::dispatch<8, 768, 8192>(int4*, float*, int*)",
        "void deep_ep::intranode::combine<__nv_bfloat16, 8, 768, 4096>(__nv_bfloat16*)",
        "void deep_ep::intranode::notify_dispatch<8>(int const*, int*)",
        "void deep_ep::intranode::cached_notify_combine<8>(void**, int*)",
        "void deep_ep::intranode::barrier<8>(int**, int)",
        "void deep_ep::internode::dispatch<false>()",
        "void deep_ep::internode_ll::combine<false, 7168, 9>(void*)",
        "_ZN7deep_ep9intranode8dispatchILi8ELi768ELi8192EEEvP4int4",
        "void primus_turbo::deep_ep::intranode::dispatch<8>()",
        "void uccl::internode_ll::dispatch<true, 7168>(void*)",
        "void hybrid_ep::device_sync_kernel<8>(int)", "void mori::moe::EpCombine<float>(int)",
        "EpDispatchIntraNodeKernel_bf16", "EpCombineInterNodeV1Kernel_bf16",
        "void tensorrt_llm::kernels::moe_comm::combine<8>(int)", "moeA2ADispatchKernel",
        "void notify_dispatch<4>(int*)", "void cached_notify_combine<2>(void**)"}) {
    EXPECT_TRUE(names_communication_kernel(kernel)) << kernel;
  }
}

TEST(CommunicationNames, AreKnownOfSymmetricMemory) {
  for (const char* kernel :
       {"void c10d::symmetric_memory::reduce<float>()",
        "void (anonymous namespace)::multimem_all_reduce_kernel<float, 16, 8>(float*)",
        "void (anonymous namespace)::multimem_one_shot_reduce<float>(float*)",
        "void (anonymous namespace)::one_shot_all_reduce_kernel<float, 16, 8>(float**)",
        "void (anonymous namespace)::two_shot_all_reduce_kernel_inplace<c10::BFloat16, 16, 2>("
        "c10::BFloat16**, unsigned long)",
        "_ZN12_GLOBAL__N_134two_shot_all_reduce_kernel_inplaceIfLi16EEEvPPfm",
        "void c10d::intra_node_comm::reduce<4>(int)", "put_signal_kernel(unsigned int**, int)",
        "wait_signal_kernel(unsigned int**, int)", "barrier_kernel(unsigned int**, int)",
        "exchangeSplitAndOffset(long*, long*)", "allToAllV(void*, void*)"}) {
    EXPECT_TRUE(names_communication_kernel(kernel)) << kernel;
  }
}

TEST(CommunicationNames, AreKnownOfReductionsBetweenDevices) {
  for (const char* kernel :
       {"void vllm::cross_device_reduce_1stage<__half, 2>(vllm::RankData*)",
        "void sglang::cross_device_reduce_2stage<__half, 8>(sglang::RankData*)",
        "_ZN5aiter26cross_device_reduce_2stageIDF16bLi8EEEvPNS_8RankDataE",
        "void aiter::reduce_scatter_cross_device_store<__hip_bfloat16, 8>(int)",
        "aiter::allreduce_fusion_kernel_1stage<8>",
        "void quickreduce::twoshot<quickreduce::CodecQ4<__half, 8> >(int)",
        "void allreduce_prototype_twoshot<CodecFP>(int)",
        "void flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport<2>()",
        "void flashinfer::trtllm_mnnvl_allreduce::rmsNormLamport<8>(int)",
        "void flashinfer::trtllm_mnnvl_allreduce::twoshotAllreduceKernel<4>(int)",
        "moefinalize_allreduce_fusion_kernel_oneshot_lamport",
        "void tensorrt_llm::kernels::ar_fusion::fused<1>(int)",
        "void tensorrt_llm::kernels::twoShotAllReduceKernel<__half, 8>(int)",
        "void one_shot_all_reduce<(anonymous namespace)::Sum>(int)",
        "lamport_style_one_shot_norm_kernel<8>",
        "userbuffers_fp16_sum_inplace_gpu_rw",
        "kuserbuffers_pushsend(int*, int*)",
        "quick_reduce_two_shot",
        "void custom_allgather<4>(int)",
        "reduce_scatter_tensor_kernel"}) {
    EXPECT_TRUE(names_communication_kernel(kernel)) << kernel;
  }
}

TEST(CommunicationNames, AreNotThoseOfComputing) {
  for (const char* kernel :
       {"",
        "void ",
        "gemm",
        "hipLaunchKernel",
        "dispatch",
        "combine",
        "void dispatch<8>(int)",
        "void combine<8>(int)",
        "triton_poi_fused_addmask_0",
        "triton_poi_fused_all_reduce_0",
        "triton_red_fused_add_one_shot_all_reduce_4",
        "input_reduce_scatter_fusion_3",
        "void flash::flash_fwd_splitkv_combine_kernel<Flash_fwd_kernel_traits<64> >(int)",
        "flash_attention_combine",
        "void deep_gemm::sm90_fp8_gemm_1d2d_impl<0u, 7168u>(int)",
        "void deep_gemm::sm100_mega_moe<ncclDevComm_t>(int)",
        "_fwd_kernel_ep_scatter_2",
        "_combined_routing_compute",
        "void moe::dev::routing::dispatch<4>(int)",
        "void at::native::reduce_kernel<512, 1>()",
        "SyncBatchNorm_forward",
        "void at::native::elementwise_kernel<gather>()",
        "void at::native::vectorized_gather_kernel<16, long>(char*, char*)",
        "void at::native::scatter_gather_elementwise_kernel<128>(int)",
        "void cutlass::device_kernel<cutlass::gemm::collective::CollectiveMma<int> >(int)",
        "allgather_gemm_kernel<128>",
        "Memcpy DtoD (Device -> Device)",
        "_ZN5aiter24add_rmsnorm_quant_kernelIDF16bDF16bLi256EEEvPT0_",
        "void local_device_load_rmsnorm<nccl::Thing>(int)",
        "void softmaxBlockAllReduce<1>(int)",
        "_ZN",
        "_Z",
        "_ZN99short",
        "a<b",
        "::",
        "void (anonymous namespace)::"}) {
    EXPECT_FALSE(names_communication_kernel(kernel)) << kernel;
  }
}

}  // namespace
}  // namespace stepscope::analysis
