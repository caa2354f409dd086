// What names of kernels, calls, ranges and devices say about the program that was recorded.
// Definitions: docs/metrics/program.md.
#pragma once

#include <cstdint>
#include <string_view>

namespace stepscope::analysis {

// A host range inside of which runs what torch.compile made: "Torch-Compiled Region: 0/0",
// "CompiledFunction", "## Call CompiledFxGraph …".
bool names_compiled_code(std::string_view range);
// A kernel that Inductor wrote: "triton_poi_fused_add_0". Kernels that people write in Triton have
// names of their own.
bool names_compiled_kernel(std::string_view kernel);
// cudaGraphLaunch, hipGraphLaunch, cuGraphLaunch.
bool names_graph_launch(std::string_view call);

// Autograd's backward pass: "autograd::engine::evaluate_function: …", "AddmmBackward0".
bool names_backward(std::string_view op);

// "AdamW" of "Optimizer.step#AdamW.step"; empty: it names none.
std::string_view optimizer_of(std::string_view range);

// "nvidia", "amd", "intel", "mtia", "ascend"; empty: the name does not say it.
std::string_view vendor_of_device(std::string_view name);
std::string_view vendor_of_call(std::string_view call);

// The compute capability, its first number, that a kernel's name speaks of: 7 of "volta_sgemm_…",
// 9 of "sm90_xmma_…". Libraries run kernels of older generations, too: only the newest of a
// recording says anything. 0: none.
std::int64_t generation_named(std::string_view kernel);

}  // namespace stepscope::analysis
