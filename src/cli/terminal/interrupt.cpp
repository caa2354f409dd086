// Ctrl-C, SIGTERM and lack of memory: unfinished files are removed before the process ends.
#include "cli/terminal/interrupt.h"

#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <exception>
#include <new>
#include <system_error>
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
  // There is no other place to report that this failed.
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line, std::strlen(line));
  ::_exit(static_cast<int>(exit));
}

void Interrupt::clean_up() {
  for (const std::string& path : guarded_) ::unlink(path.c_str());
  if (last_words_) last_words_();
}

namespace {

// The one place that a handler without arguments can look at.
std::atomic<Interrupt*> interrupt_of_process{nullptr};
std::atomic<bool> is_ending{false};

// Into a buffer of its own: there is no memory to be had.
const char* line_of(const char* what) {
  static std::array<char, 256> line;
  rlimit limit{};
  const bool limited = ::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  if (limited) {
    std::snprintf(line.data(), line.size(),
                  "stepscope: out of memory: %s; `ulimit -v` allows %llu MB: raise it, or read "
                  "less at a time (--max-memory says how much may be used)\n",
                  what, static_cast<unsigned long long>(limit.rlim_cur / 1'000'000));
  } else {
    std::snprintf(line.data(), line.size(),
                  "stepscope: out of memory: %s; the system gives no more: read less at a time "
                  "(--max-memory says how much may be used)\n",
                  what);
  }
  return line.data();
}

[[noreturn]] void end_for(const char* what) {
  // Two threads may run out at once.
  if (!is_ending.exchange(true)) {
    if (Interrupt* const interrupt = interrupt_of_process.load()) {
      interrupt->end_with(Exit::kNotReadable, line_of(what));
    }
    std::fputs(line_of(what), stderr);
    std::_Exit(static_cast<int>(Exit::kNotReadable));
  }
  while (true) ::pause();
}

// The core file says more than we could; but the user must know whose fault it is.
[[noreturn]] void end_for_fault(const char* what) {
  std::fprintf(stderr, "stepscope: a fault of stepscope itself (%s): please report this command\n",
               what);
  std::abort();
}

[[noreturn]] void on_terminate() {
  try {
    if (const std::exception_ptr thrown = std::current_exception()) std::rethrow_exception(thrown);
  } catch (const std::bad_alloc&) {
    end_for("a trace needs more");
  } catch (const std::system_error& error) {
    if (error.code() == std::errc::resource_unavailable_try_again) {
      end_for("no thread could be started (-j 1 needs none)");
    }
    end_for_fault(error.what());
  } catch (const std::exception& error) {
    end_for_fault(error.what());
  } catch (...) {
    end_for_fault("something was thrown that says nothing");
  }
  // On its way through frames that may not be left, a thread that runs: the core throws nothing
  // else.
  if (std::uncaught_exceptions() > 0) end_for("a trace needs more");
  end_for_fault("it ended without a reason");
}

}  // namespace

NoMemory::NoMemory(Interrupt& interrupt) {
  interrupt_of_process = &interrupt;
  std::set_terminate(on_terminate);
}

NoMemory::~NoMemory() { interrupt_of_process = nullptr; }

}  // namespace stepscope::cli
