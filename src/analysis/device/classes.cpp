// Tells device work that computes from work that communicates or moves memory.
#include "analysis/device/classes.h"

#include <algorithm>
#include <array>

#include "base/ascii.h"

namespace stepscope::analysis {
namespace {

using trace::Kind;

constexpr std::array<std::string_view, 4> kClassNames = {"compute", "communication", "memcpy",
                                                         "memset"};

// At the beginning of a kernel's name, whatever its case.
constexpr std::array<std::string_view, 11> kKernelBeginnings = {
    "nccl",    "rccl", "mscclpp", "msccl_",   "deep_ep",    "oneccl",
    "nvshmem", "hccl", "xccl",    "rocshmem", "collective_"};

// Anywhere in a kernel's name: namespaces and custom all-reduces.
constexpr std::array<std::string_view, 13> kKernelParts = {"ncclKernel",
                                                           "ncclDevKernel",
                                                           "mscclpp::",
                                                           "deep_ep::",
                                                           "nvshmem",
                                                           "cross_device_reduce",
                                                           "multimem_all",
                                                           "multimem_one_shot",
                                                           "one_shot_all_reduce",
                                                           "two_shot_all_reduce",
                                                           "quick_reduce",
                                                           "oneccl_",
                                                           "reduce_scatter_tensor_kernel"};

// Process-group backends name their host ranges "backend:collective".
constexpr std::array<std::string_view, 9> kBackends = {
    "nccl:", "gloo:", "mpi:", "ucc:", "xccl:", "hccl:", "rccl:", "xla:", "mccl:"};

constexpr std::array<std::string_view, 4> kClassesCalls = {
    "record_param_comms", "horovod_allreduce", "hvd.allreduce", "c10d::barrier"};

bool begins(std::string_view text, std::string_view lower_case) {
  return text.size() >= lower_case.size() &&
         std::equal(lower_case.begin(), lower_case.end(), text.begin(),
                    [](char a, char b) { return a == base::lowered(b); });
}

}  // namespace

std::string_view name_of(WorkClass work_class) {
  return kClassNames[static_cast<std::size_t>(work_class)];
}

bool names_communication_kernel(std::string_view kernel) {
  // A demangled name may begin with its return type.
  if (kernel.starts_with("void ")) kernel.remove_prefix(5);
  return std::ranges::any_of(kKernelBeginnings, [&](auto b) { return begins(kernel, b); }) ||
         std::ranges::any_of(kKernelParts,
                             [&](auto p) { return kernel.find(p) != std::string_view::npos; });
}

bool names_communication_call(std::string_view op) {
  return std::ranges::any_of(kBackends, [&](auto b) { return op.starts_with(b); }) ||
         std::ranges::any_of(kClassesCalls, [&](auto c) { return op == c; });
}

bool begins_loading(std::string_view range) { return range.starts_with("begin loading#"); }

bool names_data_loading(std::string_view range) {
  if (range.starts_with("enumerate(DataLoader)#")) return range.ends_with(".__next__");
  if (range.starts_with("enumerate(DataPipe)#")) return true;
  // stepscope.profile(…).watch(loader)
  if (range.starts_with("wait for data#") || begins_loading(range)) return true;
  // Lightning: "[pl][profile][_TrainingEpochLoop].train_dataloader_next" and its like.
  if (range.starts_with("[pl][profile]") || range.starts_with("[_")) {
    return range.ends_with("dataloader_next") || range.ends_with(".val_next") ||
           range.ends_with(".test_next") || range.ends_with(".sanity_next") ||
           range.ends_with(".predict_next");
  }
  return false;
}

Classifier::Classifier(const trace::Trace& trace)
    : trace_(&trace), communicates_(trace, names_communication_kernel) {}

WorkClass Classifier::work(trace::Row row) {
  switch (trace_->kind()[row]) {
    case Kind::kMemcpy:
      return WorkClass::kCopy;
    case Kind::kMemset:
      return WorkClass::kSet;
    default:
      break;
  }
  if (trace_->collectives().rows.contains(row)) return WorkClass::kCommunication;
  return communicates_.matches_row(row) ? WorkClass::kCommunication : WorkClass::kCompute;
}

}  // namespace stepscope::analysis
