// The clock of recorded ranges: the processor's time stamp counter where it is steady, else the
// system's.
#include "capture/ticks.h"

#include <limits>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace stepscope::capture {
namespace {

bool has_steady_counter() {
#if defined(__x86_64__)
  // "Invariant TSC": one speed whatever the processor's clock does, and in step on all cores.
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(0x80000007, &a, &b, &c, &d) != 0 && (d & 1U << 8) != 0;
#else
  return false;
#endif
}

}  // namespace

const bool kSteadyCounter = has_steady_counter();

std::int64_t clock_ns(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

std::uint64_t monotonic_ticks() { return static_cast<std::uint64_t>(clock_ns(CLOCK_MONOTONIC)); }

wire::Anchor now() {
  constexpr int kTries = 5;
  wire::Anchor best;
  std::int64_t closest = std::numeric_limits<std::int64_t>::max();
  for (int i = 0; i < kTries; ++i) {
    const std::int64_t before = clock_ns(CLOCK_MONOTONIC);
    const std::uint64_t counted = ticks();
    const std::int64_t wall = clock_ns(CLOCK_REALTIME);
    const std::int64_t after = clock_ns(CLOCK_MONOTONIC);
    if (after - before >= closest) continue;
    closest = after - before;
    best = {counted, before + (after - before) / 2, wall};
  }
  return best;
}

}  // namespace stepscope::capture
