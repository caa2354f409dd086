// Finishes a recording when SIGTERM ends the process. In a handler nothing may be locked, allocated
// or notified: it leaves a mark, and the writer, which looks ten times a second, does the rest.
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
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

using Handler = void (*)(int, siginfo_t*, void*);

void hand_on(const struct sigaction& to, int signal, siginfo_t* info, void* context) {
  if ((to.sa_flags & SA_SIGINFO) != 0) {
    to.sa_sigaction(signal, info, context);
  } else if (to.sa_handler == SIG_DFL) {
    sigaction(signal, &to, nullptr);
    raise(signal);  // acted on when this returns
  } else {
    to.sa_handler(signal);
  }
}

void on_sigterm(int signal, siginfo_t* info, void* context) {
  const int error = errno;
  if (process.load() == getpid()) wait_for_the_writer();
  errno = error;
  hand_on(before, signal, info, context);
}

// Puts a handler in front of the one in place, and says which that is.
void put_in_front(Handler handler, struct sigaction& previous) {
  struct sigaction now = {};
  sigaction(SIGTERM, nullptr, &now);
  if ((now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == handler) return;
  if ((now.sa_flags & SA_SIGINFO) == 0 && now.sa_handler == SIG_IGN) return;  // the process goes on
  previous = now;
  struct sigaction own = {};
  own.sa_sigaction = handler;
  own.sa_mask = now.sa_mask;
  own.sa_flags = (now.sa_flags & ~static_cast<int>(SA_RESETHAND)) | SA_SIGINFO;
  sigaction(SIGTERM, &own, nullptr);
}

constexpr std::int64_t kPatienceMs = 5000;

std::atomic<std::int64_t> unseen_since = 0;  // ms of the steady clock; 0: none came
struct sigaction not_seen_before = {};       // written before the handler is in place

std::int64_t steady_ms() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

void on_unseen_sigterm(int signal, siginfo_t* info, void* context) {
  std::int64_t none = 0;
  unseen_since.compare_exchange_strong(none, steady_ms());
  hand_on(not_seen_before, signal, info, context);
}

}  // namespace

void finish_on_sigterm() {
  if (process.exchange(getpid()) != getpid()) put_in_front(on_sigterm, before);
}

void end_on_unseen_sigterm() { put_in_front(on_unseen_sigterm, not_seen_before); }

void sigterm_seen() { unseen_since.store(0); }

bool detail::sigterm_is_overdue() {
  const std::int64_t since = unseen_since.load();
  return since != 0 && steady_ms() - since > kPatienceMs;
}

void detail::end_by_sigterm() {
  struct sigaction by_default = {};
  by_default.sa_handler = SIG_DFL;
  sigaction(SIGTERM, &by_default, nullptr);
  kill(getpid(), SIGTERM);
}

}  // namespace stepscope::capture
