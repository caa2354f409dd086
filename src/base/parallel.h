// Runs independent pieces of work on a few threads. The pieces must not depend on which thread runs
// them or in which order: results are the same at any thread count.
#pragma once

#include <cstddef>
#include <functional>

namespace stepscope::base {

// Calls work(i) for every i in [0, pieces), on at most `threads` threads, this one included.
void parallel_for(std::size_t pieces, unsigned threads,
                  const std::function<void(std::size_t)>& work);

}  // namespace stepscope::base
