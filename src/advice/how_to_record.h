// What a run would have to hold so that more can be said, and the words that record it in the way
// this run was recorded: torch's profiler, stepscope in the script, a callback, `stepscope run`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace stepscope::advice {

enum class Recorder : std::uint8_t { kTorchProfiler, kProfile, kCallback, kRunCommand };

enum class Wanted : std::uint8_t {
  kDeviceWork,  // what the GPU did
  kWhole,       // the file to its end
  kTrace,       // a trace beside what processes recorded of themselves
  kSteps,       // more of them
  kShapes,
  kMemory,
  kStacks,
  kRanges,     // around a loader or an optimizer that PyTorch does not know
  kStepscope,  // its own recorder
  kSnapshot,
  kNothing,  // there is nothing to record: the program or the machine has none of it
};

// "shapes of inputs", the head of a list of rules.
std::string_view name_of(Wanted wanted);

// What to write in the script, or to type; empty where nothing helps.
std::string how_to_record(Wanted wanted, Recorder recorder);

// How the same is recorded once more: "stepscope run --out runs/new -- python train.py".
std::string_view how_to_record_again(Recorder recorder);
// What that makes, for commands: "runs/new".
std::string_view new_recording(Recorder recorder);

}  // namespace stepscope::advice
