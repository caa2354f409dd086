// What the host itself works on while it launches nothing to compute: batches made by the CPU, an
// optimizer on the CPU, tensors that are looked at there, code that is compiled, checks that a
// debugging mode adds. Definitions: docs/metrics/host-work.md.
//
// It is one pass over the threads that launch work, made when the first analysis asks.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analysis/arithmetic/intervals.h"
#include "analysis/view.h"

namespace stepscope::analysis {

enum class HostTask : std::uint8_t {
  kCompile,    // code is compiled, or loaded into the device
  kUpdate,     // an optimizer works on the CPU, and its result is copied to the device
  kData,       // the CPU makes what is copied to the device next
  kInspect,    // the CPU works on what was copied from the device
  kOperators,  // operators on the CPU, before and after which nothing is copied
  kDebug,      // autograd's anomaly mode looks at each gradient
};
inline constexpr std::size_t kHostTasks = 6;
std::string_view name_of(HostTask task);

// A stretch of host time in which it does one task.
struct HostEpisode {
  Interval time;
  HostTask task = HostTask::kOperators;
  trace::Row row = trace::kNoRow;  // what took longest of it; kNoRow: nothing that was recorded
  base::Nanos operators = 0;       // in operators that work on the CPU
  base::Nanos quiet = 0;           // nothing of the framework ran
  std::int64_t down = 0, up = 0;   // copies to the host, to the device
  base::Bytes down_bytes = 0, up_bytes = 0;
  base::Bytes pageable_bytes = 0;  // of up_bytes, from ordinary memory
};

// An operator that worked on the CPU within an episode; the outermost that calls no runtime.
struct CpuOperator {
  trace::Row row = trace::kNoRow;
  std::uint32_t episode = 0;
};

// Signs of settings that make each launch slower, counted in the selected steps.
struct HostSigns {
  std::int64_t backward_nodes = 0, checked_nodes = 0;  // of autograd; with a search for NaN inside
  base::Nanos check_work = 0;                          // of devices, launched by those searches
  std::int64_t long_launches = 0, held_launches = 0;   // of kernels; that returned after the kernel
  std::int64_t compiled_calls = 0;                     // of compiled regions, the outermost
  std::int64_t compiled_frames = 0,
               most_versions = 0;  // different ones; how often one was compiled
};

struct HostWork {
  std::vector<HostEpisode> episodes;  // by start
  std::vector<CpuOperator> operators;
  std::vector<std::uint8_t> copies;  // by work: 1 + the task that it is part of, or 0
  HostSigns signs;

  bool belongs(std::size_t piece, HostTask task) const {
    return piece < copies.size() && copies[piece] == 1 + static_cast<std::uint8_t>(task);
  }
};

// Made once per window.
const HostWork& host_work(const WindowView& window);

}  // namespace stepscope::analysis
