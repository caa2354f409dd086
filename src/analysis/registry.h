// The rows of the table of analyses, each defined in the file of its name.
#pragma once

#include "analysis/analysis.h"

namespace stepscope::analysis {

extern const Analysis kOverview;
extern const Analysis kTime;
extern const Analysis kLog;
extern const Analysis kLoader;
extern const Analysis kModel;
extern const Analysis kThroughput;
extern const Analysis kSystem;
extern const Analysis kEnergy;
extern const Analysis kSteps;
extern const Analysis kStepsTensorflow;
extern const Analysis kDataloader;
extern const Analysis kTemporalBreakdown;
extern const Analysis kKernelTypes;
extern const Analysis kKernels;
extern const Analysis kOperators;
extern const Analysis kAttentionAnalysis;
extern const Analysis kAutotuning;
extern const Analysis kIdleTime;
extern const Analysis kCpu;
extern const Analysis kStallsAnalysis;
extern const Analysis kHostWork;
extern const Analysis kKernelDurations;
extern const Analysis kOverlap;
extern const Analysis kAnnotations;
extern const Analysis kPatterns;
extern const Analysis kProgram;
extern const Analysis kModules;
extern const Analysis kStacks;
extern const Analysis kLoop;
extern const Analysis kRoofline;
extern const Analysis kMfu;
extern const Analysis kCounters;
extern const Analysis kLaunches;
extern const Analysis kQueueLength;
extern const Analysis kMemoryBandwidth;
extern const Analysis kTransfers;
extern const Analysis kMemoryEvents;
extern const Analysis kMemoryOperators;
extern const Analysis kMemorySummary;
extern const Analysis kMemoryTimeline;
extern const Analysis kMemoryPeak;
extern const Analysis kMemoryAllocations;
extern const Analysis kMemoryDiff;
extern const Analysis kMemoryFragmentation;
extern const Analysis kMemoryLeaks;
extern const Analysis kMemoryOom;

}  // namespace stepscope::analysis
