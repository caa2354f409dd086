// Tells device work that computes from work that communicates or moves memory.
#include "analysis/device/classes.h"

#include <algorithm>
#include <array>

namespace stepscope::analysis {
namespace {

using trace::Kind;

constexpr std::array<std::string_view, 4> kClassNames = {"compute", "communication", "memcpy",
                                                         "memset"};

// Process-group backends name their host ranges "backend:collective".
constexpr std::array<std::string_view, 9> kBackends = {
    "nccl:", "gloo:", "mpi:", "ucc:", "xccl:", "hccl:", "rccl:", "xla:", "mccl:"};

constexpr std::array<std::string_view, 4> kClassesCalls = {
    "record_param_comms", "horovod_allreduce", "hvd.allreduce", "c10d::barrier"};

}  // namespace

std::string_view name_of(WorkClass work_class) {
  return kClassNames[static_cast<std::size_t>(work_class)];
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
