// Samples the machine into the folder of its node, from one process of the job on it: the one that
// has the folder's lock. Whatever goes wrong is said in the file and never reaches the training
// (docs/design/0013-sampling-the-machine.md).
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "capture/system/source.h"
#include "wire/writer.h"

namespace stepscope::capture {

struct SystemOptions {
  std::string folder = {};  // of the node; must exist
  double hz = 10;
  std::int64_t rank = 0, local_rank = 0;  // of this process
  wire::Fields about = {};                // what else is known: run, attempt
  SystemPlace place = {};
};

// Fails where the folder cannot be written or this process samples already. The first process of a
// node samples, the others wait until it ends.
base::Status start_system(const SystemOptions& options);
// Writes all that is left. Nothing runs: nothing happens.
void stop_system();

struct SystemState {
  bool running = false;     // samples or waits for its turn
  std::string path = {};    // of the file this process writes; empty where another one samples
  std::int64_t cpu_ns = 0;  // that the threads which sample used so far
  std::uint64_t moments = 0, values = 0;
  std::string write_error = {};  // the first one, or empty
};
SystemState system_state();

}  // namespace stepscope::capture
