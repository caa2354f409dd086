// The ranges in which a training loop waits for its data loader, and the threads that load, of one
// window.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/arithmetic/durations.h"
#include "analysis/arithmetic/intervals.h"
#include "analysis/view.h"

namespace stepscope::analysis {

// One fetch as the loop saw it.
struct Fetch {
  base::Nanos start = 0, end = 0;
  base::StringId name = base::kNoString;
  base::Nanos operators = 0;  // of the range: operators run in the loop itself
};

// By start. A fetch inside another (Lightning's around PyTorch's) is part of it.
std::vector<Fetch> fetches(const trace::Trace& trace);

// "_MultiProcessingDataLoaderIter" of "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.…".
std::string loader_name(std::string_view range);

// A thread that loads data and was recorded.
struct LoadingThread {
  std::string process, thread, name;
  Intervals active;  // it is in some operator, range or call
};
std::vector<LoadingThread> loading_threads(const trace::Trace& trace);

}  // namespace stepscope::analysis
