// How busy all processors of a machine together were. Processors come and go, so the share is of
// those that were there, not of the most there ever were.
#pragma once

#include <optional>

#include "analysis/system/node_curves.h"

namespace stepscope::analysis {

// A running total that grows by as much as time itself while every processor is busy: between two
// readings, their busy time divided by how many were there at both. Nothing where either is not
// known.
std::optional<Curve> machine_load(const NodeCurves& node);

}  // namespace stepscope::analysis
