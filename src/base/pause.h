// For loops that look for something that another thread is about to do.
#pragma once

namespace stepscope::base {

// Tells the processor that nothing is done here: it takes a moment, and little power.
inline void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

}  // namespace stepscope::base
