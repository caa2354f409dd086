// Draws the progress bar from a thread of its own.
#include "cli/terminal/progress.h"

#include "cli/options/settings.h"
#include "cli/terminal/console.h"

namespace stepscope::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kBeforeFirst{1000};
constexpr milliseconds kBetween{100};

}  // namespace

Progress::Progress(const Context& context, std::string_view verb)
    : console_(context.console), start_(steady_clock::now()), verb_(verb) {
  if (!context.settings.progress || !console_.err_is_terminal()) return;
  thread_ = std::thread([this] { draw(); });
}

Progress::~Progress() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    finished_ = true;
  }
  wake_.notify_all();
  thread_.join();
  console_.erase_progress();
}

void Progress::set(const report::ProgressState& state) {
  const std::lock_guard lock(mutex_);
  state_ = state;
}

void Progress::add_bytes(std::size_t count) {
  if (!is_shown()) return;
  const std::lock_guard lock(mutex_);
  state_.bytes_done += count;
}

void Progress::draw() {
  std::unique_lock lock(mutex_);
  auto next = start_ + kBeforeFirst;
  while (!wake_.wait_until(lock, next, [&] { return finished_; })) {
    state_.verb = verb_;
    state_.seconds = std::chrono::duration<double>(steady_clock::now() - start_).count();
    console_.draw_progress(report::progress_line(state_, console_.err_look()));
    next = steady_clock::now() + kBetween;
  }
}

}  // namespace stepscope::cli
