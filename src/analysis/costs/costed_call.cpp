// What a call that owns kernels is compared with, and how it is called.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "analysis/costs/call_costs.h"

namespace stepscope::analysis {

std::uint8_t KernelNames::read(std::string_view kernel) {
  const auto contains = [&](std::string_view word) {
    return kernel.find(word) != std::string_view::npos;
  };
  std::uint8_t signs = kRead;
  if (contains("splitKreduce") || contains("splitk_reduce")) signs |= kHelps;
  if (contains("tf32") || contains("tensorop_s1688")) signs |= kTensorFloat;
  return signs;
}

std::optional<Arithmetic> arithmetic_of(const CostedCall& call) {
  if (call.family == Family::kCount) return std::nullopt;  // whatever it computes
  const bool matrix = multiplies_matrices(call.family);
  switch (call.dtype) {
    case Dtype::kDouble:
    case Dtype::kComplexDouble:
      return Arithmetic::kFp64;
    case Dtype::kFloat:
    case Dtype::kComplexFloat:
      return matrix && call.tensor_float ? Arithmetic::kTf32 : Arithmetic::kFp32;
    // What is not a product of matrices is computed in 32 bits, whatever the tensors hold.
    case Dtype::kHalf:
      return matrix ? Arithmetic::kFp16 : Arithmetic::kFp32;
    case Dtype::kBfloat16:
      return matrix ? Arithmetic::kBf16 : Arithmetic::kFp32;
    case Dtype::kFp8:
      return matrix ? Arithmetic::kFp8 : Arithmetic::kFp32;
    case Dtype::kFp4Pair:
      return matrix ? std::optional(Arithmetic::kFp4) : std::nullopt;
    case Dtype::kInt8:
      return matrix ? std::optional(Arithmetic::kInt8) : std::nullopt;
    default:
      return std::nullopt;
  }
}

double peak_of(const Peaks& peaks, const CostedCall& call) {
  const auto arithmetic = arithmetic_of(call);
  if (!arithmetic) return 0;
  return multiplies_matrices(call.family) ? peaks.matrix_flops(*arithmetic) : peaks[*arithmetic];
}

std::string shape_text(const OpInputs& inputs) {
  std::vector<std::pair<std::string, int>> parts;  // neighbours of one shape are one part
  for (const Input& input : inputs.inputs) {
    std::string part;
    if (input.kind == InputKind::kTensor && input.tensor.rank() > 0) {
      part = fmt::format("{}", fmt::join(input.tensor.dims, "×"));
    } else if (input.kind == InputKind::kTensorList) {
      part = input.list.empty() ? "list" : fmt::format("list of {}", input.list.size());
    }
    if (part.empty()) continue;
    if (!parts.empty() && parts.back().first == part) {
      ++parts.back().second;
    } else {
      parts.emplace_back(std::move(part), 1);
    }
  }
  std::string text;
  for (const auto& [part, times] : parts) {
    if (!text.empty()) text += ", ";
    text += times == 1 ? part : fmt::format("{} of {}", times, part);
  }
  return text;
}

}  // namespace stepscope::analysis
