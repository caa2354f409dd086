#include "harness.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <thread>

#include <fmt/format.h>

namespace stepscope::bench {
namespace {

// "Intel(R) Xeon(R) Processor, 2 cores"; never the name of the host.
std::string machine() {
  std::ifstream info("/proc/cpuinfo");
  std::string line, model = "unknown processor";
  while (std::getline(info, line)) {
    if (!line.starts_with("model name")) continue;
    const std::size_t colon = line.find(": ");
    if (colon != std::string::npos) model = line.substr(colon + 2);
    break;
  }
  return fmt::format("{}, {} cores", model, std::thread::hardware_concurrency());
}

// Of the checked-out branch; "unknown" where git keeps its refs otherwise.
std::string commit() {
  const std::filesystem::path git = BENCH_SOURCE_DIR "/.git";
  std::string line;
  std::getline(std::ifstream(git / "HEAD") >> std::ws, line);
  constexpr std::string_view kRef = "ref: ";
  if (line.starts_with(kRef)) std::getline(std::ifstream(git / line.substr(kRef.size())), line);
  const bool is_hash = line.find_first_not_of("0123456789abcdef") == std::string::npos;
  return is_hash && !line.empty() ? line.substr(0, 9) : "unknown";
}

std::string json_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) >= 0x20) out += c;
  }
  return out + '"';
}

// The largest resident size since the process began its program. ru_maxrss is inherited over fork
// and would show the parent's peak, so the child resets the kernel's mark first (clear_refs 5).
std::uint64_t peak_bytes() {
  std::ifstream status("/proc/self/status");
  std::string line;
  while (std::getline(status, line)) {
    if (line.starts_with("VmHWM:")) return std::stoull(line.substr(6)) * 1024;
  }
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

[[noreturn]] void child(const std::function<Sample()>& body, int to_parent) {
  int status = 1;
  try {
    std::ofstream("/proc/self/clear_refs") << "5";
    Sample sample = body();
    sample.peak_bytes = peak_bytes();
    if (::write(to_parent, &sample, sizeof sample) == sizeof sample) status = 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
  }
  ::_exit(status);
}

}  // namespace

Sample run_in_child(const std::function<Sample()>& body) {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) throw std::runtime_error("no pipe");
  std::fflush(nullptr);
  const pid_t pid = ::fork();
  if (pid == 0) child(body, ends[1]);
  ::close(ends[1]);
  Sample sample;
  const ssize_t got = ::read(ends[0], &sample, sizeof sample);
  ::close(ends[0]);
  int status = 0;
  if (pid < 0 || ::waitpid(pid, &status, 0) != pid || status != 0 || got != sizeof sample) {
    throw std::runtime_error("the measured run failed");
  }
  return sample;
}

double median_seconds(const std::vector<Sample>& samples) {
  std::vector<double> seconds;
  seconds.reserve(samples.size());
  for (const Sample& sample : samples) seconds.push_back(sample.seconds);
  std::sort(seconds.begin(), seconds.end());
  const std::size_t half = seconds.size() / 2;
  return seconds.size() % 2 == 1 ? seconds[half] : (seconds[half - 1] + seconds[half]) / 2;
}

void print_result(const Result& result) {
  const double median = median_seconds(result.samples);
  std::string seconds;
  std::uint64_t peak = 0;
  for (const Sample& sample : result.samples) {
    seconds += fmt::format("{}{:.4f}", seconds.empty() ? "" : ", ", sample.seconds);
    peak = std::max(peak, sample.peak_bytes);
  }
  const Sample& first = result.samples.front();
  fmt::print(
      "{{\"bench\": {}, \"variant\": {}, \"file\": {}, \"bytes\": {}, \"events\": {}, "
      "\"seconds\": [{}], \"median_s\": {:.4f}, \"gb_per_s\": {:.3f}, \"peak_bytes\": {}, "
      "\"table_bytes\": {}, "
      "\"checksum\": {}, \"machine\": {}, \"commit\": {}}}\n",
      json_string(result.bench), json_string(result.variant),
      json_string(std::filesystem::path(result.file).filename().native()), result.bytes,
      first.events, seconds, median, static_cast<double>(result.bytes) / median / 1e9, peak,
      first.table_bytes, first.checksum, json_string(machine()), json_string(commit()));
  std::fflush(stdout);
}

int bench_main(const char* program, int argc, char** argv, int (*body)(const Options&)) {
  try {
    Options options;
    for (int i = 1; i < argc; ++i) {
      const std::string_view argument = argv[i];
      const bool more = i + 1 < argc;
      if (more && argument == "--runs") {
        options.runs = std::stoi(argv[++i]);
      } else if (more && argument == "--threads") {
        options.threads = std::stoi(argv[++i]);
      } else if (more && argument == "--only") {
        options.only = argv[++i];
      } else if (options.path.empty() && !argument.starts_with("--")) {
        options.path = argument;
      } else {
        options.path.clear();
        break;
      }
    }
    if (options.path.empty() || options.runs < 1) {
      std::fprintf(stderr, "usage: %s FILE [--runs N] [--threads N] [--only VARIANT]\n", program);
      return 2;
    }
    return body(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", program, error.what());
    return 1;
  }
}

}  // namespace stepscope::bench
