// Runs work or programs in child processes with a time limit and collects what they print.
#include "doctor/subprocess.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <thread>

#include <fmt/format.h>

namespace stepscope::doctor {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::size_t kMostText = 1 << 20;  // of a program that never stops talking
constexpr int kNotFound = 127;

struct Child {
  pid_t pid = -1;
  int reading = -1;
  Clock::time_point until = {};
  const Subprocess* process = nullptr;
  Returned returned = {};
};

void write_text(int to, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(to, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

// Only the answer reaches the caller: libraries like to print.
void point_streams(int answer, const Subprocess& process) {
  const int nowhere = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  const int errors =
      process.errors_to.empty()
          ? -1
          : ::open(process.errors_to.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  (void)::dup2(nowhere, STDIN_FILENO);
  (void)::dup2(process.program.empty() ? nowhere : answer, STDOUT_FILENO);
  (void)::dup2(errors < 0 ? nowhere : errors, STDERR_FILENO);
}

[[noreturn]] void be_child(const Subprocess& process, int answer, pid_t parent) {
  (void)::setpgid(0, 0);
  (void)::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent)
    ::_exit(1);  // core: the parent has just died; nothing would end this process
  sigset_t none;
  ::sigemptyset(&none);
  (void)::sigprocmask(SIG_SETMASK, &none, nullptr);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) (void)std::signal(number, SIG_DFL);
  point_streams(answer, process);
  if (!process.program.empty()) {
    std::vector<char*> words;
    words.reserve(process.program.size() + 1);
    for (const std::string& word : process.program)
      words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    ::execvp(words[0], words.data());
    ::_exit(kNotFound);  // core: a child that could not become the program has nothing else to do
  }
  write_text(answer, process.work());
  ::_exit(0);  // core: a child process ends here, without the parent's destructors
}

Child begin(const Subprocess& process) {
  Child child;
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return child;
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::close(ends[0]);
    be_child(process, ends[1], parent);
  }
  ::close(ends[1]);
  if (pid < 0) {
    ::close(ends[0]);
    return child;
  }
  (void)::setpgid(pid, pid);  // both sides do it: whoever comes first
  child.pid = pid;
  child.reading = ends[0];
  child.until = Clock::now() + process.limit;
  child.process = &process;
  return child;
}

// Waits a moment for the dead; a process stuck in the kernel is left alone rather than waited for.
void bury(Child& child, Ending ending) {
  ::close(child.reading);
  child.reading = -1;
  if (ending != Ending::kDone) (void)::kill(-child.pid, SIGKILL);
  const Clock::time_point patience = std::max(Clock::now(), child.until) + milliseconds(500);
  int status = 0;
  while (::waitpid(child.pid, &status, WNOHANG) == 0) {
    if (ending == Ending::kDone && Clock::now() > child.until) {
      ending = Ending::kTooLate;
      (void)::kill(-child.pid, SIGKILL);
    }
    if (Clock::now() > patience) {
      child.returned.ending = Ending::kTooLate;
      return;
    }
    std::this_thread::sleep_for(milliseconds(1));
  }
  (void)::kill(-child.pid, SIGKILL);  // what it started and did not end
  child.returned.ending = ending;
  if (ending != Ending::kDone) return;
  if (WIFSIGNALED(status)) {
    child.returned = {Ending::kCrashed, std::move(child.returned.text), WTERMSIG(status)};
  } else {
    child.returned.number = WEXITSTATUS(status);
  }
}

void listen(Child& child) {
  std::array<char, 4096> part{};
  const ssize_t size = ::read(child.reading, part.data(), part.size());
  if (size < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (size <= 0) {
    bury(child, Ending::kDone);
    return;
  }
  child.returned.text.append(part.data(), static_cast<std::size_t>(size));
  if (child.returned.text.size() > kMostText) bury(child, Ending::kTooLate);
}

}  // namespace

std::vector<Returned> run_subprocesses(const std::vector<Subprocess>& processes,
                                       const std::atomic<bool>* stop) {
  std::vector<Child> children;
  children.reserve(processes.size());
  for (const Subprocess& process : processes) children.push_back(begin(process));
  while (true) {
    std::vector<pollfd> waiting;
    std::vector<Child*> whose;
    for (Child& child : children) {
      if (child.reading < 0) continue;
      const auto& may_go_on = child.process->may_go_on;
      const bool stopped =
          (stop != nullptr && stop->load()) ||
          (may_go_on && !may_go_on(static_cast<int>(child.pid), child.returned.text));
      if (stopped || Clock::now() > child.until) {
        bury(child, stopped ? Ending::kStopped : Ending::kTooLate);
        continue;
      }
      waiting.push_back({.fd = child.reading, .events = POLLIN, .revents = 0});
      whose.push_back(&child);
    }
    if (waiting.empty()) break;
    if (::poll(waiting.data(), waiting.size(), 50) <= 0) continue;
    for (std::size_t i = 0; i < waiting.size(); ++i) {
      if (waiting[i].revents != 0) listen(*whose[i]);
    }
  }
  std::vector<Returned> all;
  all.reserve(children.size());
  for (Child& child : children) all.push_back(std::move(child.returned));
  return all;
}

std::string complaint(const Returned& returned, const Subprocess& process) {
  switch (returned.ending) {
    case Ending::kDone:
      return returned.number == 0 ? "" : fmt::format("ended with status {}", returned.number);
    case Ending::kTooLate:
      return fmt::format("did not answer within {:.3g} s",
                         static_cast<double>(process.limit.count()) / 1000);
    case Ending::kCrashed:
      return fmt::format("was ended by signal {}", returned.number);
    case Ending::kNotStarted:
      return "no process could be started for it";
    case Ending::kStopped:
      return "was stopped";
  }
  return {};
}

}  // namespace stepscope::doctor
