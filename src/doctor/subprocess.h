// Work that may hang or crash (drivers, stale file systems, interpreters) runs in a process of its
// own that is killed when its time is over. What it says comes back as text.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace stepscope::doctor {

struct Subprocess {
  std::function<std::string()> work = {};  // runs in a child process; its text is the answer
  std::vector<std::string> program = {};   // instead of work: what this program prints
  std::chrono::milliseconds limit{10'000};
  std::string errors_to = {};  // a file for what it writes to standard error; empty: nowhere
  // Asked several times a second, with its process group and what it has said; false ends it.
  // Nothing: it may go on.
  std::function<bool(int group, std::string_view said)> may_go_on = {};
};

enum class Ending : unsigned char { kDone, kTooLate, kCrashed, kNotStarted, kStopped };

struct Returned {
  Ending ending = Ending::kNotStarted;
  std::string text = {};  // all that was said, also by one that did not end well
  int number = 0;         // exit status, or the signal of a crash
};

// All at once; answers in the order of the processes. `stop` ends all of them early.
std::vector<Returned> run_subprocesses(const std::vector<Subprocess>& processes,
                                       const std::atomic<bool>* stop = nullptr);

// "did not answer within 10 s", "was killed by signal 11"; empty for one that is done.
std::string complaint(const Returned& returned, const Subprocess& process);

}  // namespace stepscope::doctor
