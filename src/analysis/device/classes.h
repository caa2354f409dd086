// What device work is for: computing, communicating, moving memory. By category and arguments
// first; names decide only where a communication kernel carries no arguments.
#pragma once

#include <cstdint>
#include <string_view>

#include "analysis/name_sign.h"
#include "trace/trace.h"

namespace stepscope::analysis {

enum class WorkClass : std::uint8_t { kCompute, kCommunication, kCopy, kSet };
std::string_view name_of(WorkClass work_class);  // "compute", "communication", "memcpy", "memset"

// Kernels of NCCL, RCCL, oneCCL, MSCCL++, HCCL, NVSHMEM, of DeepEP and its like, of symmetric
// memory and of custom all-reduces; names as written or mangled.
bool names_communication_kernel(std::string_view kernel);
// Host ranges of process-group backends: "nccl:all_reduce", "gloo:broadcast", record_param_comms.
bool names_communication_call(std::string_view op);
// Host ranges in which a loop waits for its loader: "enumerate(DataLoader)#…", Lightning's fetches.
bool names_data_loading(std::string_view range);
// Of them: an iterator is made, and nothing asked for yet.
bool begins_loading(std::string_view range);

// Answers for one trace, each name examined once.
class Classifier {
 public:
  explicit Classifier(const trace::Trace& trace);

  WorkClass work(trace::Row row);  // of device work

 private:
  const trace::Trace* trace_;
  NameSign communicates_;
};

}  // namespace stepscope::analysis
