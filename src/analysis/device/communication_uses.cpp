// Tells what communication is for by the names around it, the innermost first.
#include "analysis/device/communication_uses.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/ascii.h"

namespace stepscope::analysis {
namespace {

using trace::Row;

constexpr std::array<std::string_view, 9> kUseNames = {
    "data-parallel", "sharded",   "tensor-parallel", "expert-parallel", "embeddings",
    "pipeline",      "optimizer", "all-to-all",      "unknown"};

struct UseSign {
  std::string_view part;
  CommunicationUse use;
};

// In the names of operators, ranges, modules and Python's frames; the first that is held decides.
constexpr std::array kUseSigns = std::to_array<UseSign>({
    {"AccumulateGrad", CommunicationUse::kDataParallel},
    {"ddp.reducer", CommunicationUse::kDataParallel},
    {"FSDP::", CommunicationUse::kSharded},
    {"FullyShardedDataParallel", CommunicationUse::kSharded},
    {"torch/distributed/fsdp", CommunicationUse::kSharded},
    {"fully_shard", CommunicationUse::kSharded},
    {"deepspeed/runtime/zero", CommunicationUse::kSharded},
    {"ModelParallelRegion", CommunicationUse::kTensorParallel},
    {"TensorParallelRegion", CommunicationUse::kTensorParallel},
    {"tensor_parallel", CommunicationUse::kTensorParallel},
    {"tensor_model_parallel", CommunicationUse::kTensorParallel},
    {"SequenceParallelRegion", CommunicationUse::kTensorParallel},
    {"RowParallel", CommunicationUse::kTensorParallel},
    {"ColumnParallel", CommunicationUse::kTensorParallel},
    {"VocabParallel", CommunicationUse::kTensorParallel},
    {"Redistribute", CommunicationUse::kTensorParallel},  // of DTensor
    {"KJT", CommunicationUse::kEmbeddings},               // torchrec
    {"sparse_data_dist", CommunicationUse::kEmbeddings},
    {"All2All_Pooled", CommunicationUse::kEmbeddings},
    {"All2All_Seq", CommunicationUse::kEmbeddings},
    {"alltoall_fwd_single", CommunicationUse::kEmbeddings},
    {"alltoall_bwd_single", CommunicationUse::kEmbeddings},
    {"sdd_preprocess", CommunicationUse::kEmbeddings},
    {"ReduceScatterBase_", CommunicationUse::kEmbeddings},
    {"ReduceScatter_Req", CommunicationUse::kEmbeddings},
    {"ReduceScatter_Wait", CommunicationUse::kEmbeddings},
    {"deep_ep", CommunicationUse::kExpertParallel},
    {"DeepEP", CommunicationUse::kExpertParallel},
    {"token_dispatcher", CommunicationUse::kExpertParallel},
    {"MoEAlltoAll", CommunicationUse::kExpertParallel},
    {"moe/", CommunicationUse::kExpertParallel},
    {"pipeline_parallel", CommunicationUse::kPipeline},
    {"torch/distributed/pipelining", CommunicationUse::kPipeline},
    {"Optimizer.step#", CommunicationUse::kOptimizer},
});

// In the descriptions of process groups, by their words; the first that is there decides.
constexpr std::array kGroupWords = std::to_array<UseSign>({
    {"expert", CommunicationUse::kExpertParallel},
    {"ep", CommunicationUse::kExpertParallel},
    {"moe", CommunicationUse::kExpertParallel},
    {"tensor", CommunicationUse::kTensorParallel},
    {"tp", CommunicationUse::kTensorParallel},
    {"pipeline", CommunicationUse::kPipeline},
    {"pp", CommunicationUse::kPipeline},
    {"fsdp", CommunicationUse::kSharded},
    {"shard", CommunicationUse::kSharded},
    {"zero", CommunicationUse::kSharded},
    {"data", CommunicationUse::kDataParallel},
    {"dp", CommunicationUse::kDataParallel},
    {"ddp", CommunicationUse::kDataParallel},
    {"replicate", CommunicationUse::kDataParallel},
});

// Kernels that bring tokens to experts and reduce between the devices of one machine, which is what
// layers are split among. The rest are libraries' that do anything.
constexpr std::array<std::string_view, 9> kOfExperts = {"deep_ep",    "intranode::", "internode",
                                                        "EpDispatch", "EpCombine",   "moeA2A",
                                                        "hybrid_ep",  "moe_comm",    "notify_"};
constexpr std::array<std::string_view, 9> kOfLayers = {"cross_device",
                                                       "one_shot_all_reduce",
                                                       "two_shot_all_reduce",
                                                       "multimem_all_reduce",
                                                       "quickreduce",
                                                       "quick_reduce",
                                                       "lamport",
                                                       "allreduce_fusion",
                                                       "AllReduceKernel"};

constexpr std::string_view kAutogradEngine = "autograd::engine::evaluate_function";
constexpr std::string_view kReplicasForward = "DistributedDataParallel.forward";
constexpr std::size_t kManyReductions = 8;  // reductions within a window

template <class Parts>
bool holds_one(std::string_view text, const Parts& parts) {
  return std::ranges::any_of(
      parts, [&](std::string_view part) { return text.find(part) != std::string_view::npos; });
}

}  // namespace

std::string_view name_of(CommunicationUse use) { return kUseNames[static_cast<std::size_t>(use)]; }

CommunicationUses::CommunicationUses(const WindowView& window)
    : trace_(window.trace), known_(window.trace->strings().size()) {
  has_backward_ = trace_->backward().rows.size() > 0;
  for (std::size_t id = 0; id < trace_->strings().size(); ++id) {
    const std::string_view text = trace_->text(static_cast<base::StringId>(id));
    has_backward_ |= text.starts_with(kAutogradEngine);
    if (text == kReplicasForward) replicas_ = text;
  }
  const auto pieces = std::ranges::count(window.work, WorkClass::kCommunication, &Work::work_class);
  passes_layers_ = static_cast<std::size_t>(pieces) >= kManyReductions;
}

CommunicationUses::Sort CommunicationUses::sort_of(std::string_view name) {
  std::string plain;
  for (const char c : name) {
    if (base::is_letter(c) || base::is_digit(c)) plain += base::lowered(c);
  }
  const auto has = [&](std::string_view part) { return plain.find(part) != std::string::npos; };
  if (has("alltoall") || has("all2all")) return Sort::kAllToAll;
  if (has("allreduce") || has("devicereduce")) return Sort::kAllReduce;
  if (has("allgather")) return Sort::kAllGather;
  if (has("reducescatter")) return Sort::kReduceScatter;
  // A kernel "SendRecv" may be NCCL's way to do anything.
  if (has("sendrecv")) return Sort::kOther;
  if (has("send") || has("recv")) return Sort::kPointToPoint;
  return Sort::kOther;
}

CommunicationUse CommunicationUses::by_group(std::string_view description, Sort sort) {
  std::vector<std::string> words(1);
  for (const char c : description) {
    if (base::is_letter(c)) {
      words.back() += base::lowered(c);
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  for (const UseSign& sign : kGroupWords) {
    if (std::ranges::find(words, sign.part) == words.end()) continue;
    const bool keeps_parts = sort == Sort::kAllGather || sort == Sort::kReduceScatter;
    if (sign.use == CommunicationUse::kDataParallel && keeps_parts) {
      return CommunicationUse::kSharded;
    }
    return sign.use;
  }
  return CommunicationUse::kUnknown;
}

CommunicationUse CommunicationUses::by_name(base::StringId name) {
  if (name >= known_.size()) return CommunicationUse::kUnknown;
  std::uint8_t& known = known_[name];
  if (known == 0) {
    CommunicationUse use = CommunicationUse::kUnknown;
    const std::string_view text = trace_->text(name);
    const auto* const sign = std::ranges::find_if(kUseSigns, [&](const UseSign& one) {
      return text.find(one.part) != std::string_view::npos;
    });
    if (sign != kUseSigns.end()) use = sign->use;
    known = static_cast<std::uint8_t>(static_cast<std::uint8_t>(use) + 1);
  }
  return static_cast<CommunicationUse>(known - 1);
}

// A range around everything says nothing of what another mechanism does within it.
bool CommunicationUses::fits(CommunicationUse use, Sort sort) {
  switch (use) {
    case CommunicationUse::kUnknown:
      return false;
    case CommunicationUse::kDataParallel:
      return sort == Sort::kAllReduce;
    case CommunicationUse::kSharded:
      return sort == Sort::kAllGather || sort == Sort::kReduceScatter;
    case CommunicationUse::kTensorParallel:
      return sort != Sort::kPointToPoint;
    default:
      return true;
  }
}

KnownUse CommunicationUses::use_of(const Work& piece, std::string_view collective) {
  const std::string_view kernel = trace_->name_text(piece.row);
  if (holds_one(kernel, kOfExperts)) {
    return {CommunicationUse::kExpertParallel, std::string(kernel)};
  }
  Sort sort = sort_of(collective);
  if (sort == Sort::kOther) sort = sort_of(kernel);
  const trace::CollectiveTable& collectives = trace_->collectives();
  const auto by_description = [&](Row row) -> std::optional<KnownUse> {
    const std::uint32_t entry = collectives.rows.find(row);
    if (entry == base::RowSet::kNone) return std::nullopt;
    const base::StringId id = collectives.group_description[entry];
    if (id == base::kNoString) return std::nullopt;
    const CommunicationUse use = by_group(trace_->text(id), sort);
    if (use == CommunicationUse::kUnknown) return std::nullopt;
    return KnownUse{use, std::string(trace_->text(id))};
  };
  if (const auto known = by_description(piece.row)) return *known;
  for (Row row = piece.launch == trace::kNoRow ? trace::kNoRow : trace_->parent()[piece.launch];
       row != trace::kNoRow; row = trace_->parent()[row]) {
    if (const auto known = by_description(row)) return *known;
    CommunicationUse use = by_name(trace_->name()[row]);
    // Gradients of which every rank keeps a part.
    if (use == CommunicationUse::kDataParallel && sort == Sort::kReduceScatter) {
      use = CommunicationUse::kSharded;
    }
    if (fits(use, sort)) return {use, std::string(trace_->name_text(row))};
  }
  if (sort == Sort::kPointToPoint) return {CommunicationUse::kPipeline, std::string(collective)};
  if (sort == Sort::kAllToAll) return {CommunicationUse::kAllToAll, std::string(collective)};
  if (holds_one(kernel, kOfLayers)) {
    return {CommunicationUse::kTensorParallel, std::string(kernel)};
  }
  if (sort == Sort::kAllReduce && has_backward_ && !replicas_.empty()) {
    return {CommunicationUse::kDataParallel, replicas_};
  }
  // Without a backward pass there are no gradients: what is reduced again and again is a layer's.
  if (sort == Sort::kAllReduce && !has_backward_ && passes_layers_) {
    return {CommunicationUse::kTensorParallel, std::string(collective)};
  }
  return {};
}

}  // namespace stepscope::analysis
