// Processes that end by a signal: workers of a data loader are sent SIGTERM when their parent ends,
// and none of their own code runs any more.
#pragma once

namespace stepscope::capture {

// From now on SIGTERM first has the recording of this process finished, then does what it would
// have done. It waits for the writer's next turn, a tenth of a second, and no longer than three.
// Children of a fork are not meant.
void finish_on_sigterm();

}  // namespace stepscope::capture
