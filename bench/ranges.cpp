// What a recorded range costs, beside two readings of the clock it is made of: the least a range
// can cost. Prints JSON.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "capture/recorder.h"
#include "capture/ticks.h"

namespace {

using Clock = std::chrono::steady_clock;

double ns_each(Clock::time_point since, int count) {
  return std::chrono::duration<double, std::nano>(Clock::now() - since).count() / count;
}

double median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
  return values[values.size() / 2];
}

}  // namespace

int main() {
  namespace capture = stepscope::capture;
  std::string folder = (std::filesystem::temp_directory_path() / "ranges-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) return 1;
  const stepscope::wire::NameId name = capture::name_id("range");
  // Fewer than a ring holds, and a flush between: this is the cost of recording, not of dropping.
  constexpr int kRanges = 20'000;
  constexpr int kTurns = 201;
  std::vector<double> clocks, idle, recorded;
  std::uint64_t sum = 0;
  for (int turn = 0; turn < kTurns; ++turn) {
    auto since = Clock::now();
    for (int i = 0; i < kRanges; ++i) {
      sum += capture::ticks();
      sum -= capture::ticks();
    }
    clocks.push_back(ns_each(since, kRanges));
    since = Clock::now();
    for (int i = 0; i < kRanges; ++i) {
      capture::begin(name);
      capture::end(name);
    }
    idle.push_back(ns_each(since, kRanges));
    if (!capture::start({.folder = folder, .file = fmt::format("{}.scope", turn)})) return 1;
    capture::begin(name);
    capture::end(name);
    since = Clock::now();
    for (int i = 0; i < kRanges; ++i) {
      capture::begin(name);
      capture::end(name);
    }
    recorded.push_back(ns_each(since, kRanges));
    capture::stop();
  }
  std::filesystem::remove_all(folder);
  fmt::print(
      R"({{"two_clock_reads_ns": {:.2f}, "range_ns": {:.2f}, "range_not_recording_ns": {:.2f}, )"
      R"("ratio": {:.2f}, "steady_counter": {}, "sink": {}}})"
      "\n",
      median(clocks), median(recorded), median(idle), median(recorded) / median(clocks),
      capture::kSteadyCounter, sum & 1);
  return 0;
}
