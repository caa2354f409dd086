// Measures copies within host memory.
#include <algorithm>
#include <barrier>
#include <memory>
#include <thread>

#include <fmt/format.h>

#include "doctor/checks.h"

namespace stepscope::doctor {
namespace {

constexpr int kRounds = 6;
constexpr unsigned kMostThreads = 64;

// One thread's part of a = b + s * c, three times memory traffic.
struct Part {
  std::unique_ptr<double[]> a, b, c;
};

void triad(double* a, const double* b, const double* c, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) a[i] = b[i] + 3 * c[i];
}

// Bytes per second of the best round, all threads together.
double best_rate(unsigned threads, std::size_t count) {
  std::vector<double> seconds(kRounds);
  std::barrier together(static_cast<std::ptrdiff_t>(threads));
  const auto work = [&](unsigned thread) {
    // Made and first touched by the thread that uses it, so that it lies near.
    Part part{.a = std::make_unique<double[]>(count),
              .b = std::make_unique<double[]>(count),
              .c = std::make_unique<double[]>(count)};
    std::fill_n(part.b.get(), count, 1.0);
    std::fill_n(part.c.get(), count, 2.0);
    for (int round = 0; round < kRounds; ++round) {
      together.arrive_and_wait();
      const auto begin = std::chrono::steady_clock::now();
      triad(part.a.get(), part.b.get(), part.c.get(), count);
      together.arrive_and_wait();
      if (thread == 0) seconds[static_cast<std::size_t>(round)] = seconds_since(begin);
    }
  };
  std::vector<std::jthread> others;
  for (unsigned i = 1; i < threads; ++i) others.emplace_back(work, i);
  work(0);
  others.clear();
  const double bytes = 3.0 * sizeof(double) * static_cast<double>(count) * threads;
  return bytes / *std::min_element(seconds.begin() + 1, seconds.end());
}

}  // namespace

std::vector<Check> host_memory_rate(const Place& place) {
  constexpr std::uint64_t kLarge = std::uint64_t{1} << 30;  // more than all caches hold
  constexpr std::uint64_t kOfThread = std::uint64_t{48} << 20;
  Check check{.name = "host-memory",
              .why = "collating batches, pinning them and CPU operators live on it",
              .unit = "GB/s"};
  const unsigned threads = std::clamp(place.usable_cpus, 1u, kMostThreads);
  const std::uint64_t wanted = std::max(kLarge, kOfThread * threads);
  const std::uint64_t bytes = std::min(place.free_memory_bytes.value_or(wanted) / 4, wanted);
  const auto count = static_cast<std::size_t>(bytes / 3 / sizeof(double) / threads);
  if (count < 1024 * 1024) {
    check.value = "not measured: too little memory is free";
    return {check};
  }
  check.measured = best_rate(threads, count) / 1e9;
  check.value = fmt::format("{:.1f} GB/s with {} thread{}", *check.measured, threads,
                            threads == 1 ? "" : "s");
  return {check};
}

}  // namespace stepscope::doctor
