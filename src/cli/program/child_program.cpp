// Starts a program, passes signals on, waits for its end and says how it ended.
#include "cli/program/child_program.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>

#include <fmt/format.h>

#include "report/writing/numbers.h"

namespace stepscope::cli {

namespace {

// What the copy of this process may still touch until it is the program's.
constexpr std::uint64_t kUntilExec = 1 << 20;

constexpr int kPassedOn[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};

// Without those that were ignored when we started, as by nohup: they are ignored in the program,
// too, and would be kept for us if they were blocked.
sigset_t awaited_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  for (const int number : kPassedOn) {
    struct sigaction current{};
    const bool ignored =
        ::sigaction(number, nullptr, &current) == 0 && current.sa_handler == SIG_IGN;
    if (!ignored) sigaddset(&set, number);
  }
  return set;
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  out.reserve(texts.size() + 1);
  // exec() takes them as not constant, for reasons of the last century.
  for (const std::string& text : texts) out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

std::uint64_t most_bytes_of_this() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

// A pipe gives so few bytes at once, or none.
void read_whole(int from, void* to, std::size_t size) {
  ssize_t count = 0;
  do count = ::read(from, to, size);
  while (count < 0 && errno == EINTR);
}

// By fork and exec: glibc's posix_spawn leaves signals 32 and 33 ignored in what it starts. Returns
// errno where the program cannot be started.
int start(const std::vector<std::string>& words, const std::vector<std::string>& environment,
          const sigset_t& mask, pid_t& child, std::uint64_t& forked_bytes) {
  const std::vector<char*> arguments = pointers(words);
  const std::vector<char*> variables = pointers(environment);
  int reported[2] = {};  // first its memory, then errno; closed by a successful exec
  if (::pipe2(reported, O_CLOEXEC) != 0) return errno;
  child = ::fork();
  int error = child < 0 ? errno : 0;
  if (child == 0) {
    ::pthread_sigmask(SIG_SETMASK, &mask, nullptr);
    const std::uint64_t bytes = most_bytes_of_this();
    (void)!::write(reported[1], &bytes, sizeof bytes);
    ::execvpe(words.front().c_str(), arguments.data(), variables.data());
    error = errno;
    (void)!::write(reported[1], &error, sizeof error);
    ::_exit(127);
  }
  ::close(reported[1]);
  if (child > 0) {
    read_whole(reported[0], &forked_bytes, sizeof forked_bytes);
    forked_bytes += kUntilExec;
    read_whole(reported[0], &error, sizeof error);
    if (error != 0) ::waitpid(child, nullptr, 0);
  }
  ::close(reported[0]);
  return error;
}

base::Nanos nanos(const timeval& time) {
  return static_cast<base::Nanos>(time.tv_sec) * 1'000'000'000 +
         static_cast<base::Nanos>(time.tv_usec) * 1'000;
}

void wait_for(pid_t child, const sigset_t& set, const Beside& beside, ProgramEnd& end) {
  bool looks = static_cast<bool>(beside.look);
  while (true) {
    siginfo_t info{};
    const timespec second{1, 0};
    const int number = looks ? ::sigtimedwait(&set, &info, &second) : ::sigwaitinfo(&set, &info);
    if (number < 0 && errno != EINTR && errno != EAGAIN) return;
    if (number < 0 && errno == EAGAIN) looks = beside.look();
    rusage usage{};
    if (::wait4(child, &end.status, WNOHANG, &usage) == child) {
      end.processor_ns = nanos(usage.ru_utime) + nanos(usage.ru_stime);
      // Linux keeps the peak over exec().
      const std::uint64_t peak = static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
      if (peak > end.forked_bytes) end.peak_bytes = peak;
      return;
    }
    // From the kernel: the terminal's, which the whole process group got.
    if (number > 0 && number != SIGCHLD && info.si_code != SI_KERNEL) ::kill(child, number);
  }
}

}  // namespace

ProgramEnd run_to_end(const std::vector<std::string>& words,
                      const std::vector<std::string>& environment, const Beside& beside) {
  ProgramEnd end;
  ::signal(SIGCHLD, SIG_DFL);  // ignored, it would take the program's status with it
  const sigset_t set = awaited_signals();
  sigset_t before;
  ::pthread_sigmask(SIG_BLOCK, &set, &before);
  const auto started = std::chrono::steady_clock::now();
  pid_t child = 0;
  end.start_error = start(words, environment, before, child, end.forked_bytes);
  end.process = child;
  if (end.start_error == 0) {
    if (beside.started) beside.started();
    wait_for(child, set, beside, end);
  }
  end.wall_ns = std::chrono::nanoseconds(std::chrono::steady_clock::now() - started).count();
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return end;
}

void end_like(const ProgramEnd& end) {
  if (end.start_error != 0) ::_exit(end.start_error == ENOENT ? 127 : 126);
  if (WIFEXITED(end.status)) ::_exit(WEXITSTATUS(end.status));
  const int number = WTERMSIG(end.status);
  const rlimit none{0, 0};  // the program has left its own core
  ::setrlimit(RLIMIT_CORE, &none);
  ::signal(number, SIG_DFL);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, number);
  ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  ::raise(number);
  ::_exit(128 + number);
}

namespace {

constexpr int kOfSignal = 128;  // shells, and launchers, add it to the number

std::string signal_name(int number) {
  const char* const name = ::sigabbrev_np(number);
  return name == nullptr ? fmt::format("signal {}", number) : fmt::format("SIG{}", name);
}

std::string out_of_memory(const ProgramEnd& end, const std::string& job) {
  const std::string where =
      job.empty() ? std::string("`dmesg | grep -i oom`")
                  : fmt::format("`sacct -j {} --format=JobID,State,MaxRSS,ReqMem`", job);
  const std::string largest = end.peak_bytes ? fmt::format("its largest process had {}; ",
                                                           report::bytes_text(*end.peak_bytes))
                                             : std::string();
  return fmt::format("often: out of memory; {}see {}", largest, where);
}

std::string meaning(int number, const ProgramEnd& end, const std::string& job) {
  switch (number) {
    case SIGKILL:
      return out_of_memory(end, job);
    case SIGTERM:
      return "it was asked to end: by a time limit, a scheduler or kill";
    case SIGINT:
      return "Ctrl-C";
    case SIGSEGV:
    case SIGBUS:
    case SIGFPE:
    case SIGILL:
    case SIGABRT:
      return "a fault in compiled code; `python -X faulthandler` shows where";
    default:
      return {};
  }
}

}  // namespace

bool has_failed(const ProgramEnd& end) { return end.start_error == 0 && end.status != 0; }

std::string ending_signal(const ProgramEnd& end) {
  return WIFSIGNALED(end.status) ? signal_name(WTERMSIG(end.status)) : std::string();
}

std::string ending_text(const ProgramEnd& end) {
  if (WIFSIGNALED(end.status)) return fmt::format("was killed by signal {}", WTERMSIG(end.status));
  return fmt::format("ended with status {}", WEXITSTATUS(end.status));
}

std::string ending_with_reason(const ProgramEnd& end, const std::string& error,
                               const std::string& job) {
  std::string reason = error;
  if (WIFSIGNALED(end.status)) {
    reason = signal_name(WTERMSIG(end.status));
    const std::string means = meaning(WTERMSIG(end.status), end, job);
    if (!means.empty()) reason += ", " + means;
  } else if (const int number = WEXITSTATUS(end.status) - kOfSignal;
             error.empty() && number > 0 && ::sigabbrev_np(number) != nullptr) {
    reason = fmt::format("128 and {}: as after {}", number, signal_name(number));
    const std::string means = meaning(number, end, job);
    if (!means.empty()) reason += ", " + means;
  }
  return reason.empty() ? ending_text(end) : fmt::format("{} ({})", ending_text(end), reason);
}

}  // namespace stepscope::cli
