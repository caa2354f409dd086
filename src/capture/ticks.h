// The processor's own clock: a few nanoseconds to read, no system call. Used only where it is known
// to run at one speed; elsewhere ticks are nanoseconds of the monotonic clock.
#pragma once

#include <cstdint>
#include <ctime>

#include "wire/format.h"

namespace stepscope::capture {

// Set once, before main: whether the counter can be trusted.
extern const bool kSteadyCounter;

std::int64_t clock_ns(clockid_t clock);  // any of the system's
std::uint64_t monotonic_ticks();

inline std::uint64_t ticks() {
#if defined(__x86_64__)
  if (kSteadyCounter) return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
  std::uint64_t value = 0;
  asm volatile("mrs %0, cntvct_el0" : "=r"(value));
  return value;
#endif
  return monotonic_ticks();
}

// What all clocks say now. Reads around the counter and keeps the closest of a few tries, so that
// being interrupted in between does not skew it.
wire::Anchor now();

}  // namespace stepscope::capture
