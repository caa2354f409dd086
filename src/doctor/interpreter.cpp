// What a Python interpreter says about itself and its torch.
#include <sstream>

#include <fmt/format.h>

#include "doctor/checks.h"

namespace stepscope::doctor {
namespace {

constexpr std::string_view kMark = "stepscope.";

std::string first_of(const InterpreterFacts& facts, const std::string& key) {
  const auto found = facts.find(key);
  return found == facts.end() ? std::string() : found->second;
}

Check python_check(const InterpreterFacts& facts, const std::string& complaint,
                   const std::string& asked) {
  Check check{.name = "python", .why = "the training's interpreter is the one that is recorded"};
  if (!facts.contains("version")) {
    const bool absent = complaint.empty() || complaint.ends_with("status 127");
    check.state = absent ? State::kMissing : State::kBad;
    check.value = !absent         ? "the interpreter " + complaint
                  : asked.empty() ? "no python3 on PATH"
                                  : asked + " cannot be run";
    check.means = "nothing can be said about torch";
    check.todo = asked.empty()
                     ? "activate the training's environment, or name its interpreter with --python"
                     : "name the program itself, such as --python ENVIRONMENT/bin/python";
    return check;
  }
  check.state = State::kGood;
  check.value = fmt::format("{}, {}", first_of(facts, "version"), first_of(facts, "executable"));
  return check;
}

Check torch_check(const InterpreterFacts& facts, const std::string& complaint) {
  Check check{.name = "torch", .why = "its profiler and allocator are what is recorded"};
  if (facts.contains("torch")) {
    const std::string cuda = first_of(facts, "cuda");
    const std::string hip = first_of(facts, "hip");
    check.state = State::kGood;
    check.value = fmt::format("{}, {}", first_of(facts, "torch"),
                              !cuda.empty()  ? "built for CUDA " + cuda
                              : !hip.empty() ? "built for ROCm " + hip
                                             : "built for the CPU only");
    return check;
  }
  if (facts.contains("torch_missing")) {
    check.state = State::kMissing;
    check.value = "this interpreter has no torch";
    check.todo = "activate the training's environment, or name its interpreter with --python";
    return check;
  }
  if (facts.contains("torch_error")) {
    check.state = State::kBad;
    check.value = "import torch fails: " + first_of(facts, "torch_error");
    check.means = "no training can run with this interpreter";
    check.todo =
        "python -c 'import torch' shows all of it; libraries of another CUDA in "
        "LD_LIBRARY_PATH are a common cause";
    return check;
  }
  check.value = "import torch " + (complaint.empty() ? std::string("said nothing") : complaint);
  check.means =
      "on a cold file system the first import takes minutes; a driver that hangs looks "
      "the same";
  check.todo = "try again, or with a larger --time-limit";
  return check;
}

Check interpreter_device_check(const InterpreterFacts& facts, const std::string& complaint,
                               bool sees_gpu) {
  Check check{.name = "torch-device", .why = "without a device training runs on the CPU"};
  if (!facts.contains("device_count")) {
    check.value = "torch was asked and " + (complaint.empty() ? "failed" : complaint);
    check.means = "the driver does not answer";
    check.todo = "nvidia-smi or rocm-smi tells whether it answers anybody";
    return check;
  }
  if (first_of(facts, "device_count") != "0") {
    check.state = State::kGood;
    check.value =
        fmt::format("{} visible: {}", first_of(facts, "device_count"), first_of(facts, "device"));
    return check;
  }
  const bool for_device = !first_of(facts, "cuda").empty() || !first_of(facts, "hip").empty();
  check.state = for_device && sees_gpu ? State::kBad : State::kMissing;
  check.value = "none visible";
  if (for_device && !sees_gpu) {
    check.means = "nothing of a GPU is visible here, so training runs on the CPU";
    check.todo = "where GPUs are on other nodes: srun --gpus=1 stepscope doctor";
  } else if (for_device) {
    check.means = "torch is built for devices and sees none";
    check.todo = "look at cuda-driver or amd-device above, and at CUDA_VISIBLE_DEVICES";
  } else {
    check.means = "this build of torch is for the CPU only";
    check.todo = "where there is a device: install torch's build for it";
  }
  return check;
}

Check interpreter_profiler_check(const InterpreterFacts& facts) {
  Check check{.name = "torch-profiler", .why = "torch.profiler writes the traces (Kineto)"};
  const std::string activities = first_of(facts, "activities");
  const bool sees_devices = activities.find("CUDA") != std::string::npos;
  const bool has_device = first_of(facts, "device_count") != "0" && facts.contains("device_count");
  if (first_of(facts, "kineto") != "1") {
    check.state = State::kMissing;
    check.value = "torch was built without Kineto";
    check.means = "no traces can be written";
    check.todo = "install torch from PyPI or conda-forge, or build it with USE_KINETO=1";
  } else if (has_device && !sees_devices) {
    check.state = State::kBad;
    check.value = "Kineto records " + activities + " only";
    check.means = "traces would show no kernels";
    check.todo = "look at cupti above; install torch's build for this device";
  } else {
    check.state = State::kGood;
    check.value = "Kineto, records " + activities;
  }
  return check;
}

}  // namespace

std::string interpreter_script() {
  // Nothing of the current folder is run: its name is taken out of the path first.
  return R"(import sys
sys.path[:] = [p for p in sys.path if p]
def print_fact(key, value):
    print("stepscope." + key + "=" + " ".join(str(value).split()), flush=True)
print_fact("executable", sys.executable)
print_fact("version", ".".join(map(str, sys.version_info[:3])))
import glob, os
for p in sys.path:
    for folder in sorted(glob.glob(os.path.join(glob.escape(p), "nvidia", "*", "lib"))):
        print_fact("folder", folder)
try:
    import torch
except ModuleNotFoundError as error:
    print_fact("torch_missing" if error.name == "torch" else "torch_error", error)
except BaseException as error:
    print_fact("torch_error", error)
else:
    print_fact("folder", os.path.join(os.path.dirname(torch.__file__), "lib"))
    print_fact("torch", torch.__version__)
    print_fact("cuda", getattr(torch.version, "cuda", None) or "")
    print_fact("hip", getattr(torch.version, "hip", None) or "")
    print_fact("kineto", int(torch.autograd.kineto_available()))
    names = sorted(a.name for a in torch.profiler.supported_activities())
    print_fact("activities", " and ".join(names) or "nothing")
    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if count:
        print_fact("device", torch.cuda.get_device_name(0))
    print_fact("device_count", count)
)";
}

InterpreterFacts interpreter_facts(const std::string& printed) {
  InterpreterFacts facts;
  std::istringstream lines(printed);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t equals = line.find('=');
    if (!line.starts_with(kMark) || equals == std::string::npos) continue;
    facts.emplace(line.substr(kMark.size(), equals - kMark.size()), line.substr(equals + 1));
  }
  return facts;
}

std::vector<Check> interpreter_checks(const InterpreterFacts& facts, const std::string& complaint,
                                      bool sees_gpu, const std::string& asked) {
  std::vector<Check> checks = {python_check(facts, complaint, asked)};
  if (!facts.contains("version")) return checks;
  checks.push_back(torch_check(facts, complaint));
  if (!facts.contains("torch")) return checks;
  checks.push_back(interpreter_device_check(facts, complaint, sees_gpu));
  checks.push_back(interpreter_profiler_check(facts));
  return checks;
}

}  // namespace stepscope::doctor
