#include "cli/terminal/no_memory.h"

#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <system_error>

namespace stepscope::cli {
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
