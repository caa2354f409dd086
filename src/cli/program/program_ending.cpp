#include "cli/program/program_ending.h"

#include <sys/wait.h>

#include <csignal>
#include <cstring>

#include <fmt/format.h>

#include "report/writing/numbers.h"

namespace stepscope::cli {
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
      return "somebody asked it to end: a time limit, a scheduler, kill";
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
