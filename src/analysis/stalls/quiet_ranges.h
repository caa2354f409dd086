// What a program says it does while nothing of the framework runs: its own named ranges and, where
// stacks were recorded, its own Python functions. A short pause can only be told by these: between
// two operators the framework's Python may take as long.
#pragma once

#include "analysis/arithmetic/intervals.h"
#include "trace/trace.h"

namespace stepscope::analysis {

struct QuietRanges {
  Intervals own;        // the outermost ranges and functions of the program, without an operator
  Intervals framework;  // the framework's functions that those call
};
// `recorded`: when some operator or call ran, sorted and apart.
QuietRanges quiet_ranges(const trace::Trace& trace, const Intervals& recorded);

}  // namespace stepscope::analysis
