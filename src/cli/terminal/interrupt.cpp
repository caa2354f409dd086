#include "cli/terminal/interrupt.h"

#include <pthread.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <ctime>
#include <utility>

namespace stepscope::cli {
namespace {

constexpr int kWake = SIGUSR2;  // ours: tells the waiting thread to go home
constexpr time_t kPatienceSeconds = 2;

// Without those that were ignored when we started, under nohup or in the background of a script: a
// blocked signal is kept for sigwait() even if it is to be ignored.
sigset_t handled_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, kWake);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction current{};
    const bool ignored =
        ::sigaction(number, nullptr, &current) == 0 && current.sa_handler == SIG_IGN;
    if (!ignored) sigaddset(&set, number);
  }
  return set;
}

}  // namespace

Interrupt::Interrupt(bool listens) {
  if (!listens) return;
  // A closed pipe is an error of write(), not the end of the process.
  ::signal(SIGPIPE, SIG_IGN);
  // So is a file that grows beyond `ulimit -f`.
  ::signal(SIGXFSZ, SIG_IGN);
  const sigset_t set = handled_signals();
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  thread_ = std::thread([this] { wait_for_signals(); });
}

Interrupt::~Interrupt() {
  if (!thread_.joinable()) return;
  finished_ = true;
  ::pthread_kill(thread_.native_handle(), kWake);
  thread_.join();
}

Exit Interrupt::status() const { return static_cast<Exit>(128 + signal_.load()); }

void Interrupt::guard(const std::string& path) {
  const std::lock_guard lock(mutex_);
  guarded_.insert(path);
}

void Interrupt::release(const std::string& path) {
  const std::lock_guard lock(mutex_);
  guarded_.erase(path);
}

void Interrupt::set_last_words(std::function<void()> last_words) {
  const std::lock_guard lock(mutex_);
  last_words_ = std::move(last_words);
}

void Interrupt::wait_for_signals() {
  const sigset_t set = handled_signals();
  int number = 0;
  while (::sigwait(&set, &number) == 0) {
    if (finished_) return;
    if (number == kWake) continue;
    signal_ = number;
    stop_ = true;
    const timespec patience{.tv_sec = kPatienceSeconds, .tv_nsec = 0};
    const int second = ::sigtimedwait(&set, nullptr, &patience);
    if (finished_) return;
    if (second != kWake) end_process();
  }
}

void Interrupt::end_process() {
  const std::lock_guard lock(mutex_);
  clean_up();
  ::_exit(static_cast<int>(status()));
}

void Interrupt::end_with(Exit exit, const char* line) {
  const std::unique_lock lock(mutex_, std::try_to_lock);  // it may be ours already
  clean_up();
  // Nobody is left to be told that this failed.
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line, std::strlen(line));
  ::_exit(static_cast<int>(exit));
}

void Interrupt::clean_up() {
  for (const std::string& path : guarded_) ::unlink(path.c_str());
  if (last_words_) last_words_();
}

}  // namespace stepscope::cli
