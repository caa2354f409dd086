// Processes that end by a signal: workers of a data loader are sent SIGTERM when their parent ends,
// and none of their own code runs any more.
#pragma once

namespace stepscope::capture {

// From now on SIGTERM first has the recording of this process finished, then does what it would
// have done. It waits for the writer's next turn, a tenth of a second, and no longer than three.
// Children of a fork are not meant.
void finish_on_sigterm();

// For a handler that may never run: Python's waits until the main thread runs Python again, which
// it does not while it is in a call of C that hangs. From now on, where SIGTERM came and nobody
// said `sigterm_seen` for five seconds, the writer finishes the recording, and the signal does what
// it does by default. The handler that is in place is kept; to be called behind its installation.
void end_on_unseen_sigterm();
void sigterm_seen();

namespace detail {

// Asked by the writer, which then writes all that is left and ends the process.
bool sigterm_is_overdue();
void end_by_sigterm();

}  // namespace detail
}  // namespace stepscope::capture
