// The words that tell how to record what was missing, for each recorder.
#include <array>

#include "advice/finding.h"

namespace stepscope::advice {
namespace {

// A word of torch's profiler, and of ours.
struct Option {
  std::string_view torch, own;
};

Option option_of(Wanted wanted) {
  switch (wanted) {
    case Wanted::kShapes:
      return {"record_shapes=True", "shapes"};
    case Wanted::kMemory:
      return {"profile_memory=True", "memory"};
    case Wanted::kStacks:
      return {"with_stack=True", "stacks"};
    default:
      return {};
  }
}

// A keyword of stepscope.profile, as each way of recording takes it; `yaml` is the same in a
// settings file.
std::string own_words(Recorder recorder, std::string_view keyword, std::string_view yaml) {
  if (recorder == Recorder::kRunCommand) {
    std::string words(1, '`');
    words += yaml;
    words += "` in stepscope.yaml, then `stepscope run --config stepscope.yaml -- python train.py`";
    return words;
  }
  std::string words(recorder == Recorder::kCallback ? "Callback" : "stepscope.profile");
  words += "(\"runs/new\", ";
  words += keyword;
  words += ')';
  return words;
}

std::string more_steps(Recorder recorder) {
  switch (recorder) {
    case Recorder::kTorchProfiler:
      return "profile(..., schedule=schedule(wait=5, warmup=2, active=20)), and prof.step() at the "
             "end of each step";
    case Recorder::kRunCommand:
      return "`stepscope run --steps 10:30 -- python train.py`";
    default:
      return own_words(recorder, "schedule=stepscope.schedule(wait=5, warmup=1, active=20)", "");
  }
}

std::string device_work(Recorder recorder) {
  if (recorder == Recorder::kTorchProfiler) {
    return "profile(..., activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA])";
  }
  return own_words(recorder, "trace=[\"cpu\", \"cuda\"]", "trace: {activities: [cpu, cuda]}") +
         ", on a machine with a GPU";
}

std::string snapshot(Recorder recorder) {
  if (recorder == Recorder::kTorchProfiler) {
    return "torch.cuda.memory._record_memory_history() at the start, "
           "torch.cuda.memory._dump_snapshot(\"snapshot.pickle\") ten steps later or where the "
           "program fails";
  }
  return own_words(recorder, "snapshot=True", "snapshot: {enabled: true}");
}

std::string trace(Recorder recorder) {
  if (recorder == Recorder::kRunCommand) {
    return "`stepscope run --steps 5:10 -- python train.py`: steps that the training reaches";
  }
  return own_words(recorder, "schedule=stepscope.schedule(wait=4, warmup=1, active=5)", "") +
         ": steps that the training reaches";
}

}  // namespace

std::string_view name_of(Wanted wanted) {
  static constexpr std::array<std::string_view, 11> kNames = {
      "what the GPU does", "the file to its end",
      "a trace",           "more steps",
      "shapes of inputs",  "memory",
      "Python's stacks",   "ranges around your own loader and optimizer",
      "with stepscope",    "a memory snapshot",
      "nothing more"};
  return kNames[static_cast<std::size_t>(wanted)];
}

std::string how_to_record(Wanted wanted, Recorder recorder) {
  switch (wanted) {
    case Wanted::kDeviceWork:
      return device_work(recorder);
    case Wanted::kWhole:
      return "the same again, and let the process write its file to the end";
    case Wanted::kTrace:
      return trace(recorder);
    case Wanted::kSteps:
      return more_steps(recorder);
    case Wanted::kShapes:
    case Wanted::kMemory:
    case Wanted::kStacks: {
      const Option option = option_of(wanted);
      if (recorder == Recorder::kTorchProfiler) {
        return "profile(..., " + std::string(option.torch) + ")";
      }
      const std::string own(option.own);
      return own_words(recorder, "trace=[\"" + own + "\"]", "trace: {keep: [" + own + "]}");
    }
    case Wanted::kRanges:
      return "record_function(\"enumerate(DataLoader)#mine.__next__\") around a loader of your "
             "own, record_function(\"Optimizer.step#Mine.step\") around an optimizer; those of "
             "torch are recorded by themselves";
    case Wanted::kStepscope:
      return "`stepscope run -- python train.py`, or stepscope.profile(\"runs/new\") in the script";
    case Wanted::kSnapshot:
      return snapshot(recorder);
    case Wanted::kNothing:
      break;
  }
  return {};
}

std::string_view how_to_record_again(Recorder recorder) {
  switch (recorder) {
    case Recorder::kProfile:
      return "stepscope.profile(\"runs/new\") in the script";
    case Recorder::kCallback:
      return "Callback(\"runs/new\") of stepscope.integrations";
    case Recorder::kRunCommand:
      return "stepscope run --out runs/new -- python train.py, with the same arguments";
    case Recorder::kTorchProfiler:
      break;
  }
  return "torch.profiler as before, into new.json";
}

std::string_view new_recording(Recorder recorder) {
  return recorder == Recorder::kTorchProfiler ? "new.json" : "runs/new";
}

}  // namespace stepscope::advice
