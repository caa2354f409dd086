// Opens a run on another thread while Python handles Ctrl-C and progress.
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <future>
#include <new>
#include <optional>
#include <system_error>
#include <utility>

#include "python/recording.h"
#include "session/machine.h"
#include "session/user_files/user_files.h"

namespace stepscope::python {
namespace {

namespace nb = nanobind;
using namespace std::chrono_literals;

session::MachineView machine() {
  const char* const slurm = std::getenv("SLURM_CPUS_PER_TASK");
  return {.root = "", .slurm_cpus = slurm == nullptr ? "" : slurm};
}

session::OpenOptions options_from(const OpenArguments& arguments) {
  session::OpenOptions options;
  options.threads = arguments.jobs != 0 ? arguments.jobs : session::usable_cpus(machine());
  if (arguments.max_memory_bytes != 0) {
    options.max_memory_bytes = arguments.max_memory_bytes;
  } else if (const auto memory = session::default_memory(machine())) {
    options.max_memory_bytes = *memory;
  }
  options.step_pattern = arguments.steps;
  return options;
}

// A thread that cannot be started has mostly no memory for its stack.
template <class Work>
auto on_another_thread(Work work) {
  try {
    return std::async(std::launch::async, std::move(work));
  } catch (const std::system_error&) {
    throw std::bad_alloc();
  }
}

}  // namespace

std::unique_ptr<OpenRun> open_run(const OpenArguments& arguments, const nb::object& progress) {
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> done{0}, total{0};
  session::OpenOptions options = options_from(arguments);
  options.stop = &stop;
  options.progress = [&](const session::Progress& now) {
    total = now.bytes_total;
    done = now.bytes_done;
  };
  OpenedWith with{arguments.paths, {}, options.threads};
  if (!arguments.peaks.empty()) with.peaks = value_or_throw(session::read_peaks(arguments.peaks));
  auto reading = on_another_thread([&] { return session::open(arguments.paths, options); });

  // The first look comes soon, so that small files do not wait for it.
  std::chrono::milliseconds pause = 1ms;
  while (true) {
    std::future_status status{};
    {
      const nb::gil_scoped_release released;
      status = reading.wait_for(pause);
    }
    if (status == std::future_status::ready) break;
    pause = std::min(2 * pause, 50ms);
    try {
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
      if (!progress.is_none() && total != 0) progress(done.load(), total.load());
    } catch (...) {
      stop = true;
      const nb::gil_scoped_release released;
      reading.wait();
      throw;
    }
  }
  return std::make_unique<OpenRun>(value_or_throw(reading.get()), std::move(with));
}

}  // namespace stepscope::python
