#include "analysis/device/chain_kernels.h"

#include <algorithm>
#include <string_view>

#include "analysis/costs/call_costs.h"

namespace stepscope::analysis {
namespace {

// Threads of kernels that work on equally many numbers differ by how many each takes: 1 to 8.
constexpr double kSameThreads = 4;
// A tensor that is spread over a larger one is read again and again, and from the cache.
constexpr double kSpread = 4;

// PyTorch's, on CUDA and HIP. Those that a compiler made are fused already, and so are norms and
// softmax that are one kernel.
bool names_pass(std::string_view kernel) {
  return kernel.substr(0, kernel.find('<')).find("elementwise_kernel") != std::string_view::npos;
}
bool names_reduction(std::string_view kernel) {
  return kernel.substr(0, kernel.find('<')).find("native::reduce_kernel") != std::string_view::npos;
}

double numbers_in(const Tensor& tensor) {
  double out = 1;
  for (const std::int64_t size : tensor.dims) out *= static_cast<double>(size);
  return out;
}

}  // namespace

bool works_on_as_much(const ChainKernel& one, const ChainKernel& other) {
  if (one.numbers > 0 && other.numbers > 0) return one.numbers == other.numbers;
  if (one.reduces || other.reduces) return false;  // it has threads for what it leaves
  return one.threads <= kSameThreads * other.threads && other.threads <= kSameThreads * one.threads;
}

bool works_on_less(const ChainKernel& one, const ChainKernel& other) {
  if (one.numbers > 0 && other.numbers > 0) return kSpread * one.numbers < other.numbers;
  return kSameThreads * one.threads < other.threads;
}

ChainKernels::ChainKernels(const WindowView& window)
    : window_(window), trace_(*window.trace), sorts_(window.trace->strings().size()) {}

std::optional<ChainKernel> ChainKernels::of(std::uint32_t work) {
  const Work& piece = window_.work[work];
  if (piece.work_class != WorkClass::kCompute || !window_.counts(piece)) return std::nullopt;
  if (window_.has_steps && piece.step < 0) return std::nullopt;  // that is nobody's gain
  const base::StringId name = trace_.name()[piece.row];
  if (name == base::kNoString) return std::nullopt;
  const Sort sort = sort_of(name);
  if (sort == Sort::kOther) return std::nullopt;
  const Tensors tensors = tensors_of(piece);
  return ChainKernel{.work = work,
                     .reduces = sort == Sort::kReduction,
                     .numbers = tensors.numbers,
                     .threads = threads_of(piece),
                     .reads = tensors.reads};
}

ChainKernels::Sort ChainKernels::sort_of(base::StringId name) {
  Sort& sort = sorts_[name];
  if (sort != Sort::kNotRead) return sort;
  const std::string_view text = trace_.text(name);
  sort = Sort::kOther;
  if (names_pass(text)) sort = Sort::kPass;
  if (names_reduction(text)) sort = Sort::kReduction;
  return sort;
}

ChainKernels::Tensors ChainKernels::tensors_of(const Work& piece) {
  if (piece.launch == trace::kNoRow) return {};
  const trace::LaunchTable& launches = trace_.launches();
  const std::uint32_t launch = launches.rows.find(piece.launch);
  if (launch == base::RowSet::kNone || launches.op[launch] == trace::kNoRow) return {};
  const trace::Row row = launches.op[launch];
  const std::uint32_t op = trace_.ops().rows.find(row);
  if (op == base::RowSet::kNone) return {};
  const auto signature = static_cast<std::uint64_t>(trace_.ops().signature[op]);
  const auto [at, fresh] = tensors_.try_emplace(
      (static_cast<std::uint64_t>(trace_.name()[row]) << 32U) | (signature & 0xffffffffU));
  Tensors& out = at->second;
  if (!fresh) return out;
  std::vector<double> sizes;
  for (const Input& input : inputs_of(trace_, row).inputs) {
    if (input.kind == InputKind::kTensor) sizes.push_back(numbers_in(input.tensor));
    for (const Tensor& one : input.list) sizes.push_back(numbers_in(one));
  }
  // The first is where it writes to, and is not read.
  const std::string_view name = trace_.name_text(row);
  const bool only_written = name == "aten::copy_" || name == "aten::fill_" || name == "aten::zero_";
  out.numbers = sizes.empty() ? 0 : std::ranges::max(sizes);
  for (std::size_t i = only_written ? 1 : 0; i < sizes.size(); ++i) {
    if (kSpread * sizes[i] >= out.numbers) ++out.reads;
  }
  return out;
}

double ChainKernels::threads_of(const Work& piece) const {
  const trace::KernelTable& kernels = trace_.kernels();
  const std::uint32_t entry = kernels.rows.find(piece.row);
  if (entry == base::RowSet::kNone) return 0;
  return static_cast<double>(kernels.grid_x[entry]) * static_cast<double>(kernels.block_x[entry]);
}

}  // namespace stepscope::analysis
