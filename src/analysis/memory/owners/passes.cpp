// Finds when forward, backward and optimizer ran, from the stacks of a history.
#include "analysis/memory/owners/passes.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string_view>

#include "analysis/memory/owners/representative_frame.h"
#include "memory/places.h"

namespace stepscope::analysis {
namespace {

using memory::Frame;
using memory::FrameId;

enum class FrameSign : std::uint8_t {
  kNothing,
  kStep,  // the program's own step, also where the optimizer calls it
  kModuleMove,
  kSetup,
  kWeakSetup,  // __init__ of any class: only if nothing further out says more
  kForward,
  kBackward,
  kRecompute,
  kOptimizer,
  kOptimizerState,
  kInput,
  kCommunication,
  kReduction,
  kWorkspace,
};

bool has_stack_signs(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

template <std::size_t N>
bool has_any(std::string_view text, const std::array<std::string_view, N>& parts) {
  return std::ranges::any_of(parts,
                             [&](std::string_view part) { return has_stack_signs(text, part); });
}

template <std::size_t N>
bool is_any(std::string_view text, const std::array<std::string_view, N>& words) {
  return std::ranges::find(words, text) != words.end();
}

FrameSign sign_of_compiled(std::string_view name) {
  static constexpr std::array<std::string_view, 5> kWorkspaces = {
      "setWorkspaceForHandle", "getCUDABlasLtWorkspace", "getNewWorkspace", "getNewCUDABlasLt",
      "allocateCublasWorkspace"};
  static constexpr std::array<std::string_view, 4> kCommunication = {
      "c10d::ProcessGroup", "c10d::symmetric_memory", "c10d::Reducer::initialize_buckets",
      "ncclMem"};
  if (has_any(name, kWorkspaces)) return FrameSign::kWorkspace;
  if (has_stack_signs(name, "torch::autograd::Engine::")) return FrameSign::kBackward;
  if (has_any(name, kCommunication)) return FrameSign::kCommunication;
  return FrameSign::kNothing;
}

bool is_optimizer_file(std::string_view file) {
  static constexpr std::array<std::string_view, 5> kFolders = {
      "/optim/", "/optimizer/", "/optimizers/", "/torchao/optim", "clip_grad.py"};
  const std::size_t slash = file.find_last_of('/');
  const std::string_view name = slash == std::string_view::npos ? file : file.substr(slash + 1);
  return has_any(file, kFolders) || name.starts_with("optimizer") || name.ends_with("optimizer.py");
}

// Collectives and the buffers around them. DTensor's dispatching and the wrappers around forward
// are part of every call of a parallel model and say nothing.
FrameSign sign_of_communication(std::string_view name, std::string_view file) {
  static constexpr std::array<std::string_view, 10> kFiles = {
      "/distributed_c10d.py",        "/_functional_collectives",   "/_fsdp_collectives.py",
      "/_collective_utils.py",       "/_symmetric_memory/",        "/deepspeed/comm/",
      "/default_comm_hooks.py",      "/algorithms/ddp_comm_hooks", "/param_and_grad_buffer.py",
      "/tensor_parallel/mappings.py"};
  static constexpr std::array<std::string_view, 8> kBuffers = {"_alloc_padded_unsharded_flat_param",
                                                               "_all_gather_flat_param",
                                                               "_ddp_init_helper",
                                                               "alloc_all_gather_outputs",
                                                               "init_all_gather_outputs",
                                                               "_reduce_grad",
                                                               "_rebuild_buckets",
                                                               "_pre_forward"};
  if (!has_any(file, kFiles) && !is_any(name, kBuffers)) return FrameSign::kNothing;
  return has_stack_signs(name, "reduce") ? FrameSign::kReduction : FrameSign::kCommunication;
}

bool makes_parameters(std::string_view name, std::string_view file) {
  static constexpr std::array<std::string_view, 14> kNames = {
      "reset_parameters",      "to_empty",
      "from_pretrained",       "load_state_dict",
      "_load_from_state_dict", "init_weights",
      "_init_weights",         "set_module_tensor_to_device",
      "_init_sharded_param",   "_init_flat_param_and_metadata",
      "flatten_tensors",       "_materialize_meta_module",
      "load_checkpoint",       "_initialize_params"};
  static constexpr std::array<std::string_view, 3> kFiles = {
      "/torch/nn/init.py", "/torch/nn/parameter.py", "/safetensors/"};
  return is_any(name, kNames) || has_any(file, kFiles) ||
         (name == "__init__" && has_stack_signs(file, "/nn/modules/"));
}

bool loads_input(std::string_view name, std::string_view file) {
  static constexpr std::array<std::string_view, 9> kNames = {
      "to_device",      "move_data_to_device", "batch_to_device", "transfer_batch_to_device",
      "send_to_device", "_prepare_input",      "_prepare_inputs", "collate_fn",
      "get_batch"};
  static constexpr std::array<std::string_view, 3> kFiles = {"/torch/utils/data/", "/dataloader",
                                                             "/data_loader"};
  return is_any(name, kNames) || has_any(file, kFiles);
}

FrameSign sign_of_place(std::string_view name) {
  if (name == memory::kForwardPass) return FrameSign::kForward;
  if (name == memory::kBackwardPass) return FrameSign::kBackward;
  if (name == memory::kOptimizerStep) return FrameSign::kOptimizer;
  return FrameSign::kNothing;
}

FrameSign sign_of(std::string_view name, std::string_view file) {
  if (file.empty() && memory::names_a_pass(name)) return sign_of_place(name);
  if (origin_of(file) == FrameOrigin::kCompiled) return sign_of_compiled(name);
  if (has_stack_signs(file, "/nn/modules/module.py")) {
    if (name == "_apply" || name == "convert") return FrameSign::kModuleMove;
    if (name == "_call_impl" || name == "_wrapped_call_impl") return FrameSign::kForward;
  }
  static constexpr std::array<std::string_view, 5> kSteps = {"<module>", "closure", "training_step",
                                                             "validation_step", "compute_loss"};
  if (is_any(name, kSteps)) return FrameSign::kStep;
  if (is_optimizer_file(file)) {
    static constexpr std::array<std::string_view, 6> kState = {"_init_group",
                                                               "init_state",
                                                               "init_state_shape",
                                                               "_init_state",
                                                               "_init_optimizer_states",
                                                               "get_state_buffer"};
    return is_any(name, kState) ? FrameSign::kOptimizerState : FrameSign::kOptimizer;
  }
  if (name == "initialize_optimizer_states") return FrameSign::kOptimizerState;
  if (const FrameSign sign = sign_of_communication(name, file); sign != FrameSign::kNothing) {
    return sign;
  }
  if (has_stack_signs(file, "/utils/checkpoint.py") ||
      has_stack_signs(file, "/activation_checkpointing/")) {
    static constexpr std::array<std::string_view, 3> kAgain = {"backward", "unpack_hook",
                                                               "recompute_fn"};
    return is_any(name, kAgain) ? FrameSign::kRecompute : FrameSign::kNothing;
  }
  if (makes_parameters(name, file)) return FrameSign::kSetup;
  if (name == "backward" || name == "_make_grads" || name == "_engine_run_backward") {
    return FrameSign::kBackward;
  }
  if (name == "forward" || has_stack_signs(file, "/torch/nn/functional.py"))
    return FrameSign::kForward;
  if (loads_input(name, file)) return FrameSign::kInput;
  if (name == "__init__") return FrameSign::kWeakSetup;
  return FrameSign::kNothing;
}

// A thread of Python begins in a module or in threading; a stack that does not was called from C++,
// and it is the backward engine that calls hooks and functions written in Python.
bool begins_in_python(std::string_view name) {
  static constexpr std::array<std::string_view, 6> kRoots = {
      "<module>", "_bootstrap", "_run_module_as_main", "_run_code", "__bootstrap", "run_code"};
  return is_any(name, kRoots);
}

class StackSignsReader {
 public:
  explicit StackSignsReader(const memory::Snapshot& snapshot) : snapshot_(snapshot) {
    for (const Frame& frame : snapshot.stacks.frames()) {
      signs_.push_back(sign_of(snapshot.text(frame.name), snapshot.text(frame.file)));
      compiled_.push_back(origin_of(snapshot.text(frame.file)) == FrameOrigin::kCompiled);
    }
    std::size_t known = 0;
    std::size_t all = 0;
    for (memory::StackId id = 0; id < snapshot.stacks.size(); ++id) {
      const FrameId root = root_of(id);
      if (root == kNoFrame) continue;
      ++all;
      known += begins_in_python(snapshot.text(snapshot.stacks.frame(root).name)) ? 1 : 0;
    }
    // Stacks that someone cut short do not show where they begin.
    roots_tell_ = known * 4 >= all;
  }

  StackSign read(memory::StackId id) const {
    StackSign out;
    const std::span<const FrameId> frames = snapshot_.stacks[id];
    if (frames.empty()) return out;
    FrameSign decides = FrameSign::kNothing;
    bool backward = called_by_the_engine(id);
    for (const FrameId frame : frames) {
      const FrameSign sign = signs_[frame];
      out.is_workspace |= sign == FrameSign::kWorkspace;
      out.reduces |= sign == FrameSign::kReduction;
      backward |= sign == FrameSign::kBackward || sign == FrameSign::kRecompute;
      const bool open = decides == FrameSign::kNothing || decides == FrameSign::kWeakSetup;
      const bool says = sign != FrameSign::kNothing && sign != FrameSign::kWorkspace;
      if (open && says && (sign != FrameSign::kBackward || !compiled_[frame])) decides = sign;
    }
    out.place = place_of(decides, backward);
    out.moves_module = decides == FrameSign::kModuleMove;
    out.makes_state = decides == FrameSign::kOptimizerState;
    return out;
  }

 private:
  static constexpr FrameId kNoFrame = 0xffffffff;

  static Place place_of(FrameSign decides, bool backward) {
    switch (decides) {
      case FrameSign::kModuleMove:
      case FrameSign::kSetup:
      case FrameSign::kWeakSetup:
        return backward ? Place::kBackward : Place::kSetup;
      case FrameSign::kForward:
        return backward ? Place::kRecompute : Place::kForward;
      case FrameSign::kBackward:
      case FrameSign::kRecompute:
        return Place::kBackward;
      case FrameSign::kOptimizer:
      case FrameSign::kOptimizerState:
        return Place::kOptimizer;
      case FrameSign::kInput:
        return backward ? Place::kBackward : Place::kInput;
      case FrameSign::kCommunication:
      case FrameSign::kReduction:
        return Place::kCommunication;
      case FrameSign::kNothing:
      case FrameSign::kStep:
      case FrameSign::kWorkspace:
        return backward ? Place::kBackward : Place::kProgram;
    }
    return Place::kProgram;
  }

  FrameId root_of(memory::StackId id) const {
    const std::span<const FrameId> frames = snapshot_.stacks[id];
    for (std::size_t i = frames.size(); i-- > 0;) {
      if (!compiled_[frames[i]]) return frames[i];
    }
    return kNoFrame;
  }

  bool called_by_the_engine(memory::StackId id) const {
    const FrameId root = root_of(id);
    return roots_tell_ && root != kNoFrame &&
           !begins_in_python(snapshot_.text(snapshot_.stacks.frame(root).name));
  }

  const memory::Snapshot& snapshot_;
  std::vector<FrameSign> signs_;  // by frame
  std::vector<bool> compiled_;    // by frame
  bool roots_tell_ = false;
};

}  // namespace

std::vector<StackSign> stack_signs(const memory::Snapshot& snapshot) {
  const StackSignsReader reader(snapshot);
  std::vector<StackSign> signs;
  signs.reserve(snapshot.stacks.size());
  for (memory::StackId id = 0; id < snapshot.stacks.size(); ++id) signs.push_back(reader.read(id));
  return signs;
}

namespace {

using memory::Action;

std::optional<PassKind> passes_kind_of(Place place) {
  switch (place) {
    case Place::kForward:
      return PassKind::kForward;
    case Place::kNoStack:  // a thread without Python: the backward engine's
    case Place::kBackward:
    case Place::kRecompute:
      return PassKind::kBackward;
    case Place::kOptimizer:
      return PassKind::kOptimizer;
    default:
      return std::nullopt;
  }
}

// First events at or after the start of a step or of zero_grad, as annotated: what lets go of
// gradients without asking for memory leaves no other sign.
std::vector<std::uint32_t> optimizer_starts(const memory::Snapshot& snapshot,
                                            const memory::History& history) {
  std::vector<std::uint32_t> starts;
  const auto times = history.time.span();
  if (!std::ranges::is_sorted(times)) return starts;
  for (const memory::Annotation& annotation : snapshot.annotations) {
    if (!annotation.is_start || annotation.device != history.device) continue;
    if (!snapshot.text(annotation.name).starts_with("Optimizer.")) continue;
    starts.push_back(static_cast<std::uint32_t>(std::ranges::lower_bound(times, annotation.time) -
                                                times.begin()));
  }
  std::ranges::sort(starts);
  return starts;
}

}  // namespace

std::string_view name_of(PassKind kind) {
  switch (kind) {
    case PassKind::kForward:
      return "forward";
    case PassKind::kBackward:
      return "backward";
    case PassKind::kOptimizer:
      return "optimizer";
  }
  return "";
}

std::uint32_t Passes::pass_of(std::uint32_t event, PassKind kind) const {
  auto found = std::ranges::upper_bound(list, event, {}, &Pass::begin);
  if (found == list.begin()) return kNoEvent;
  --found;
  if (found->kind != kind || event >= found->end) return kNoEvent;
  return static_cast<std::uint32_t>(found - list.begin());
}

std::uint32_t Passes::backwards_after(std::uint32_t event) const {
  const auto first = std::ranges::upper_bound(list, event, {}, &Pass::begin) - list.begin();
  return backwards_before.back() - backwards_before[static_cast<std::size_t>(first)];
}

Passes find_passes(const memory::Snapshot& snapshot, const memory::History& history,
                   std::span<const StackSign> signs) {
  Passes out;
  const auto n = static_cast<std::uint32_t>(history.length());
  out.place.assign(n, Place::kNoStack);
  bool frees_tell = false;
  for (std::uint32_t i = 0; i < n; ++i) {
    if (history.stack[i] < signs.size()) out.place[i] = signs[history.stack[i]].place;
    const bool known = out.place[i] != Place::kNoStack;
    if (history.action[i] == Action::kAlloc) out.has_stacks |= known;
    if (history.action[i] == Action::kFreeRequested) frees_tell |= known;
    if (history.action[i] == Action::kOom) out.ooms.push_back(i);
  }
  if (!out.has_stacks) return out;

  const std::vector<std::uint32_t> starts = optimizer_starts(snapshot, history);
  auto start = starts.begin();
  bool open = false;  // the last pass may still go on
  for (std::uint32_t i = 0; i < n; ++i) {
    bool cut = false;
    for (; start != starts.end() && *start <= i; ++start) cut = true;
    const std::optional<PassKind> kind = passes_kind_of(out.place[i]);
    const bool is_alloc = history.action[i] == Action::kAlloc;
    const bool is_free = history.action[i] == Action::kFreeRequested && frees_tell;
    const bool continues = open && kind && out.list.back().kind == *kind;
    // Other threads without Python free memory too: that alone is no backward pass.
    const bool tells = is_alloc || (is_free && (continues || out.place[i] != Place::kNoStack));
    const bool changes = kind && tells && !continues;
    // Frees that have no stack belong to the pass they follow, up to what is known to be after it.
    if (!frees_tell && open && (cut || changes)) out.list.back().end = i;
    if (cut) open = open && frees_tell;
    if (!kind || !tells) continue;
    if (open && out.list.back().kind == *kind) {
      out.list.back().end = i + 1;
    } else {
      out.list.push_back({*kind, i, i + 1});
      open = true;
    }
  }
  if (!frees_tell && open) out.list.back().end = n;

  out.next_forward.assign(n + 1, kNoEvent);
  out.next_backward.assign(n + 1, kNoEvent);
  for (std::uint32_t i = n; i-- > 0;) {
    const bool is_alloc = history.action[i] == Action::kAlloc;
    const bool forward = is_alloc && out.place[i] == Place::kForward;
    const bool backward =
        is_alloc && (out.place[i] == Place::kBackward || out.place[i] == Place::kNoStack);
    out.next_forward[i] = forward ? i : out.next_forward[i + 1];
    out.next_backward[i] = backward ? i : out.next_backward[i + 1];
  }
  for (const Pass& pass : out.list) {
    out.backwards_before.push_back(out.backwards_before.back() +
                                   (pass.kind == PassKind::kBackward ? 1 : 0));
  }
  return out;
}

}  // namespace stepscope::analysis
