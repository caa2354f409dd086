// What the host does that keeps a device waiting for a reason one can change: waiting for data, for
// the device itself, taking memory from the driver. Each is a stretch of host time with its row.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analysis/arithmetic/intervals.h"
#include "analysis/name_sign.h"
#include "analysis/view.h"
#include "trace/trace.h"

namespace stepscope::analysis {

// Why a device had nothing to do although the host could have given it work.
enum class Stall : std::uint8_t {
  kInput,      // the loop waits for its data loader
  kSave,       // many tensors are copied to the host one after the other: a checkpoint
  kUpload,     // the host waits for a copy to the device
  kSync,       // the host waits for the device: .item(), .cpu(), synchronize()
  kAllocator,  // memory is taken from the driver or given back
  kOptimizer,  // the optimizer launches its work piece by piece
  kTalk,       // the host is inside a process group: other ranks are late, or the CPU communicates
  kCollector,  // Python's garbage collector stops the program
  kSearch,     // a convolution tries out algorithms
  kCompile,    // code is compiled, or loaded into the device; this and the next are of host_work.h
  kUpdate,     // an optimizer works on the CPU
  kData,       // the CPU makes what is copied to the device next
  kInspect,    // the CPU works on what was copied from the device
  kOperators,  // other operators on the CPU
  kDebug,      // autograd's anomaly mode looks at each gradient
  kDriver,     // a call that launches does not return, or one makes streams, loads code, …
  kPause,      // long, and nothing of the framework was recorded: files, logging, Python
  kLaunch,     // none of these: the host needs longer to launch work than the device to do it
};
inline constexpr std::size_t kStalls = 18;
std::string_view name_of(Stall stall);

struct HostMark {
  Interval time;
  Stall stall = Stall::kLaunch;
  trace::Row row = trace::kNoRow;
};

// Of all host threads, by start: all but save, pause and launch. They may overlap. `collections`
// are those of the garbage collector that the process recorded of itself, on the trace's clock.
std::vector<HostMark> host_marks(const WindowView& window, const Intervals& collections);

// The counter that stepscope records at the end of a collection of Python's garbage collector: the
// milliseconds it took.
inline constexpr std::string_view kCollectionCounter = "python gc ms";
// Of the rank's recordings, on the clock of the window.
Intervals recorded_collections(const RunView& view, const WindowView& window);

// Calls that take memory from the driver or give it back, device or pinned.
bool names_allocator_call(std::string_view call);

// Runs of copies from the device to the host with nothing else between them: what writing a
// checkpoint looks like.

// What says that a call is part of saving.
class SavingSigns {
 public:
  explicit SavingSigns(const trace::Trace& trace);
  // Whether code that saves asked for this copy, one of so many: by a Python frame, by a storage
  // that is copied whole, as torch.save does, or by a range; ranges, which are less certain, need
  // several copies.
  bool asked(const trace::Trace& trace, trace::Row call, std::size_t copies);

 private:
  NameSign frame_, range_, copies_, sets_;
};

// By work of the window: whether the piece belongs to a run of copies that is large enough to be a
// checkpoint, has as many different sizes as a model's weights, or is made by code that saves; and
// the CPU does not work on what it copied (host_work.h).
std::vector<bool> saved_pieces(const WindowView& window);

// What a program says it does while nothing of the framework runs: its own named ranges and, where
// stacks were recorded, its own Python functions. A short pause can only be known by these: between
// two operators the framework's Python may take as long.

struct QuietRanges {
  Intervals own;        // the outermost ranges and functions of the program, without an operator
  Intervals framework;  // the framework's functions that those call
};
// `recorded`: when some operator or call ran, sorted and apart.
QuietRanges quiet_ranges(const trace::Trace& trace, const Intervals& recorded);

}  // namespace stepscope::analysis
