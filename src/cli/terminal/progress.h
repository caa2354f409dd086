// The progress bar on a terminal: for anything over a second, erased when it is done.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string_view>
#include <thread>

#include "cli/command.h"
#include "report/writing/progress_line.h"

namespace stepscope::cli {

class Progress {
 public:
  Progress(const Context& context, std::string_view verb);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  bool is_shown() const { return thread_.joinable(); }
  void set(const report::ProgressState& state);  // from any thread
  void add_bytes(std::size_t count);

 private:
  void draw();

  Console& console_;
  std::chrono::steady_clock::time_point start_;
  std::mutex mutex_;
  std::condition_variable wake_;
  report::ProgressState state_;
  std::string_view verb_;
  bool finished_ = false;
  std::thread thread_;
};

}  // namespace stepscope::cli
