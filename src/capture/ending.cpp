// In a handler nothing may be locked, allocated or notified: it leaves a mark, and the writer,
// which looks ten times a second, does the rest.
#include "capture/ending.h"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <ctime>

#include "capture/recorder.h"

namespace stepscope::capture {
namespace {

constexpr int kMostWaits = 300;
constexpr timespec kOneWait = {.tv_sec = 0, .tv_nsec = 1'000'000};

std::atomic<pid_t> process = 0;  // that asked for it
struct sigaction before = {};    // written before the handler is in place

void wait_for_the_writer() {
  detail::end_wanted.store(true);
  for (int i = 0; i < kMostWaits && is_recording(); ++i) nanosleep(&kOneWait, nullptr);
}

void on_sigterm(int signal, siginfo_t* info, void* context) {
  const int error = errno;
  if (process.load() == getpid()) wait_for_the_writer();
  errno = error;
  if ((before.sa_flags & SA_SIGINFO) != 0) {
    before.sa_sigaction(signal, info, context);
  } else if (before.sa_handler == SIG_DFL) {
    sigaction(signal, &before, nullptr);
    raise(signal);  // acted on when this returns
  } else {
    before.sa_handler(signal);
  }
}

}  // namespace

void finish_on_sigterm() {
  if (process.exchange(getpid()) == getpid()) return;
  struct sigaction now = {};
  sigaction(SIGTERM, nullptr, &now);
  if ((now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == on_sigterm) return;
  if ((now.sa_flags & SA_SIGINFO) == 0 && now.sa_handler == SIG_IGN) return;  // the process goes on
  before = now;
  struct sigaction own = {};
  own.sa_sigaction = on_sigterm;
  own.sa_mask = now.sa_mask;
  own.sa_flags = (now.sa_flags & ~static_cast<int>(SA_RESETHAND)) | SA_SIGINFO;
  sigaction(SIGTERM, &own, nullptr);
}

}  // namespace stepscope::capture
