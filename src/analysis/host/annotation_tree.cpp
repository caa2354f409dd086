#include "analysis/host/annotation_tree.h"

namespace stepscope::analysis {

using trace::Row;

AnnotationTree::AnnotationTree(const trace::Trace& trace)
    : around_(trace.size(), trace::kNoRow), forward_(trace.size(), trace::kNoRow) {
  const trace::BackwardTable& backward = trace.backward();
  backward.rows.for_each(
      [&](Row row, std::uint32_t entry) { forward_[row] = backward.forward[entry]; });
  for (Row row = 0; row < trace.size(); ++row) {
    const Row parent = trace.parent()[row];
    if (parent == trace::kNoRow) continue;
    around_[row] = trace.kind()[parent] == trace::Kind::kAnnotation ? parent : around_[parent];
    if (forward_[row] == trace::kNoRow) forward_[row] = forward_[parent];
  }
}

}  // namespace stepscope::analysis
