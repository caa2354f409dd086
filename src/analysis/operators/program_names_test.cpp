// What names say about the program, and names that only look like it.
#include "analysis/operators/program_names.h"

#include <gtest/gtest.h>

namespace stepscope::analysis {
namespace {

TEST(ProgramNames, CompiledCodeIsInsideOfItsRanges) {
  EXPECT_TRUE(names_compiled_code("Torch-Compiled Region: 0/0"));
  EXPECT_TRUE(names_compiled_code("CompiledFunction"));
  EXPECT_TRUE(names_compiled_code("CompiledFunctionBackward"));
  EXPECT_TRUE(names_compiled_code("autograd::engine::evaluate_function: CompiledFunctionBackward"));
  EXPECT_TRUE(names_compiled_code("## Call CompiledFxGraph fa2 ##"));
  EXPECT_FALSE(names_compiled_code("TorchDynamo Cache Lookup"));
  EXPECT_FALSE(names_compiled_code("aten::addmm"));
}

TEST(ProgramNames, KernelsThatPeopleWriteInTritonAreNotCompiled) {
  EXPECT_TRUE(names_compiled_kernel("triton_poi_fused_add_0"));
  EXPECT_TRUE(names_compiled_kernel("triton_red_fused_native_layer_norm_3"));
  EXPECT_TRUE(names_compiled_kernel("triton_tem_fused_mm_1"));
  EXPECT_FALSE(names_compiled_kernel("triton_attention_fwd"));
  EXPECT_FALSE(names_compiled_kernel("_rms_norm_forward_kernel"));
}

TEST(ProgramNames, GraphsOfBothVendors) {
  EXPECT_TRUE(names_graph_launch("cudaGraphLaunch"));
  EXPECT_TRUE(names_graph_launch("hipGraphLaunch"));
  EXPECT_FALSE(names_graph_launch("cudaLaunchKernel"));
}

TEST(ProgramNames, TheBackwardPassByItsNodes) {
  EXPECT_TRUE(names_backward("autograd::engine::evaluate_function: AddmmBackward0"));
  EXPECT_TRUE(names_backward("CudnnConvolutionBackward"));
  EXPECT_FALSE(names_backward("aten::convolution_backward"));
  EXPECT_FALSE(names_backward("aten::addmm"));
}

TEST(ProgramNames, OptimizersByTheirStep) {
  EXPECT_EQ(optimizer_of("Optimizer.step#AdamW.step"), "AdamW");
  EXPECT_EQ(optimizer_of("Optimizer.zero_grad#AdamW.zero_grad"), "");
}

TEST(ProgramNames, VendorsByDevicesAndCalls) {
  EXPECT_EQ(vendor_of_device("NVIDIA H200"), "nvidia");
  EXPECT_EQ(vendor_of_device("Tesla V100-DGXS-32GB"), "nvidia");
  EXPECT_EQ(vendor_of_device("AMD Instinct MI300X"), "amd");
  EXPECT_EQ(vendor_of_device(""), "");
  EXPECT_EQ(vendor_of_call("cudaLaunchKernel"), "nvidia");
  EXPECT_EQ(vendor_of_call("cuLaunchKernelEx"), "nvidia");
  EXPECT_EQ(vendor_of_call("hipExtModuleLaunchKernel"), "amd");
  EXPECT_EQ(vendor_of_call("custom_call"), "");
  EXPECT_EQ(vendor_of_call("hipster"), "");
}

TEST(ProgramNames, GenerationsThatKernelsSpeakOf) {
  EXPECT_EQ(generation_named("volta_sgemm_128x64_nn"), 7);
  EXPECT_EQ(generation_named("ampere_bf16_s16816gemm_bf16_128x128_ldg8"), 8);
  EXPECT_EQ(generation_named("sm80_xmma_gemm_f32f32"), 8);
  EXPECT_EQ(generation_named("nvjet_sm90_tst_128x128"), 9);
  EXPECT_EQ(generation_named("cutlass3x_sm100_bstensorop"), 10);
  EXPECT_EQ(generation_named("void at::native::rsm90_thing"), 0);
  EXPECT_EQ(generation_named("softmax_warp_forward"), 0);
  EXPECT_EQ(generation_named("gemm_sm4"), 0);
}

}  // namespace
}  // namespace stepscope::analysis
