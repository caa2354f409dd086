// Ctrl-C and a polite kill. The first one asks the work to stop, so that it can clean up; a second
// one, or work that does not stop within two seconds (a read from a silent pipe), ends the process.
// Either way unfinished output is removed.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include "cli/command.h"

namespace stepscope::cli {

class Interrupt {
 public:
  // Must be made before any other thread: threads inherit which signals are left to this one.
  // Where it does not listen, signals are left as they are.
  explicit Interrupt(bool listens = true);
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  const std::atomic<bool>* stop_flag() const { return &stop_; }
  bool stopped() const { return stop_.load(); }
  Exit status() const;  // 128 and the signal's number

  // Files that are not finished and go away if the process ends early.
  void guard(const std::string& path);
  void release(const std::string& path);

  // Ends the process now: unfinished files are removed, and the line is written to standard error.
  // Allocates nothing, because memory may be what is missing.
  [[noreturn]] void end_with(Exit exit, const char* line);

  // Called before the process is ended hard: puts the terminal in order.
  void set_last_words(std::function<void()> last_words);

 private:
  void wait_for_signals();
  void end_process();
  void clean_up();

  std::atomic<bool> stop_{false};
  std::atomic<bool> finished_{false};
  std::atomic<int> signal_{0};
  std::mutex mutex_;
  std::set<std::string> guarded_;
  std::function<void()> last_words_;
  std::thread thread_;
};

// What happens when memory runs out, in whichever thread: the file being written goes away, one
// line says so, and the program ends with the status of a failure. The core throws std::bad_alloc,
// as the containers of the standard library do; code that can go on without (the server) catches
// it; what is not caught arrives here.

class NoMemory {
 public:
  explicit NoMemory(Interrupt& interrupt);
  ~NoMemory();
  NoMemory(const NoMemory&) = delete;
  NoMemory& operator=(const NoMemory&) = delete;
};

}  // namespace stepscope::cli
