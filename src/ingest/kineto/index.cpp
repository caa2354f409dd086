// Chooses the index builder for the processor that runs this.
#include "ingest/kineto/index.h"

namespace stepscope::ingest::kineto {

BuildIndex best_build_index() {
  static const BuildIndex kBest = [] {
    for (const BuildIndex candidate :
         {build_index_avx512(), build_index_avx2(), build_index_neon()}) {
      if (candidate != nullptr) return candidate;
    }
    return BuildIndex{build_index_portable};
  }();
  return kBest;
}

}  // namespace stepscope::ingest::kineto
