// What is known of the recorded program, by the analysis `program`: asked before a sentence names a
// call, a tool or a change, so that none names what is not there or what is done already.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "advice/facts.h"

namespace stepscope::advice {

enum class Vendor : std::uint8_t { kUnknown, kNvidia, kAmd, kIntel, kOther };
// Of the devices that did something; unknown where they differ.
Vendor vendor(const Facts& facts);

// Of the oldest NVIDIA GPU (7 of 7.0): what it cannot do, the run cannot. 0: not known.
std::int64_t compute_major(const Facts& facts);
// TF32 and bf16 begin with compute capability 8. Where it is not known they may be there.
inline bool may_have_bf16(const Facts& facts) {
  return compute_major(facts) == 0 || compute_major(facts) >= 8;
}
inline bool may_have_tf32(const Facts& facts) {
  return vendor(facts) != Vendor::kAmd && may_have_bf16(facts);
}

// What the maker calls its units for matrix products: "tensor cores", AMD's are "matrix cores".
std::string_view product_units(const Facts& facts);

// " in nvidia-smi", " in amd-smi": where one sees how full the memory is; empty: not known.
std::string memory_tool(const Facts& facts);

// Whether a part of the kernels worth speaking of is of torch.compile: the advice is
// about what is left outside then.
bool is_compiled(const Facts& facts, std::int32_t rank);
// Whether graph launches carry most of the kernels' time: it is replayed already.
bool is_replayed(const Facts& facts, std::int32_t rank);

// What was recorded.
bool has_stacks(const Facts& facts);
bool has_shapes(const Facts& facts);

// A forward pass alone is inference, or validation.
bool has_backward(const Facts& facts);
// " (the learning rate may have to follow)", where something learns.
std::string_view after_larger_batch(const Facts& facts);
bool has_optimizer(const Facts& facts);
// "AdamW", where it is the only one; empty: not known.
std::string optimizer_named(const Facts& facts);

// How often the rank called this function of the runtime or driver.
double calls_of(const Facts& facts, std::int32_t rank, std::string_view name);

}  // namespace stepscope::advice
