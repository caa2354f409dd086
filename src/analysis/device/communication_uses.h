// What communication is for: gradients, parameters, layers, experts, … It is told from process
// groups, from the operators, ranges, modules and Python frames around a launch, and from what the
// kernels are; where none of them tells, it is not known. Definition: docs/metrics/overlap.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/view.h"

namespace stepscope::analysis {

enum class CommunicationUse : std::uint8_t {
  kDataParallel,    // gradients of replicas
  kSharded,         // parameters and gradients that ranks hold a part of: FSDP, ZeRO
  kTensorParallel,  // within layers that are split among ranks
  kExpertParallel,  // tokens, to the ranks of their experts
  kEmbeddings,      // rows of tables that are split among ranks
  kPipeline,        // from one stage to the next
  kOptimizer,       // within the optimizer's step
  kAllToAll,        // whatever it is that all send to all
  kUnknown,
};
std::string_view name_of(CommunicationUse use);  // "data-parallel", "sharded", …

struct KnownUse {
  CommunicationUse use = CommunicationUse::kUnknown;
  std::string known_by = {};  // the name that tells it; empty: none does
  auto operator<=>(const KnownUse&) const = default;
};

// Answers for one window, each name examined once.
class CommunicationUses {
 public:
  explicit CommunicationUses(const WindowView& window);

  // `collective`: what the communication is called.
  KnownUse use_of(const Work& piece, std::string_view collective);
  bool has_backward() const { return has_backward_; }

 private:
  enum class Sort : std::uint8_t {
    kAllReduce,
    kAllGather,
    kReduceScatter,
    kAllToAll,
    kPointToPoint,
    kOther
  };
  static Sort sort_of(std::string_view name);
  static CommunicationUse by_group(std::string_view description, Sort sort);
  CommunicationUse by_name(base::StringId name);
  static bool fits(CommunicationUse use, Sort sort);

  const trace::Trace* trace_;
  std::vector<std::uint8_t> known_;  // by name: 0 not asked, else one more than the use
  bool has_backward_ = false;
  std::string replicas_;        // the range of DistributedDataParallel; empty: there is none
  bool passes_layers_ = false;  // so many reductions that they are no sums of a result
};

}  // namespace stepscope::analysis
