// Chooses the frame that stands for a stack: the innermost call of the program itself.
#include "analysis/memory/owners/representative_frame.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "memory/places.h"

namespace stepscope::analysis {
namespace {

using memory::Frame;
using memory::FrameId;

bool is_one_of(std::string_view text, std::span<const std::string_view> parts) {
  return std::ranges::any_of(
      parts, [&](std::string_view part) { return text.find(part) != std::string_view::npos; });
}

// "void at::native::f<float>(at::Tensor const&)" → "at::native::f".
std::string without_arguments(std::string_view name) {
  static constexpr std::string_view kAnonymous = "(anonymous namespace)";
  std::string out;
  std::size_t depth = 0;  // of template arguments
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (depth == 0 && name.substr(i).starts_with(kAnonymous)) {
      out += kAnonymous;
      i += kAnonymous.size() - 1;
      continue;
    }
    const char c = name[i];
    if (c == '>' && depth > 0) {
      --depth;
    } else if (c == '<') {
      ++depth;
    } else if (depth == 0) {
      if (c == '(' && !out.empty() && !out.ends_with("operator")) break;
      if (c == ' ') {
        out.clear();  // it was a return type
      } else {
        out += c;
      }
    }
  }
  return out.empty() ? std::string(name) : out;
}

// Frames of the allocator, of dispatching and of making empty tensors say nothing about who asked.
bool is_plumbing(std::string_view name) {
  static constexpr std::array<std::string_view, 11> kPlumbing = {"torch::unwind",
                                                                 "CapturedTraceback",
                                                                 "gather_with_cpp",
                                                                 "CachingAllocator",
                                                                 "c10::impl::",
                                                                 "at::_ops::",
                                                                 "::wrapper_",
                                                                 "empty_",
                                                                 "StorageImpl",
                                                                 "at::native::resize",
                                                                 "allocate_or_resize_outputs"};
  return is_one_of(name, kPlumbing);
}

}  // namespace

std::string_view base_name(std::string_view path) {
  const std::size_t slash = path.find_last_of("/\\");
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

FrameOrigin origin_of(std::string_view file) {
  static constexpr std::array<std::string_view, 3> kGenerated = {"torchinductor", "/triton/",
                                                                 "<eval_with_key>"};
  static constexpr std::array<std::string_view, 5> kInstalled = {
      "site-packages", "dist-packages", "lib/python3", "lib64/python3", "<frozen"};
  const bool is_python = file.ends_with(".py") || file.ends_with(".pyx") || file.starts_with('<') ||
                         file.ends_with(".ipynb");
  if (!is_python) return FrameOrigin::kCompiled;
  // torch may lie in a folder of installed packages or be built in place: .../torch/nn/modules.
  static constexpr std::array<std::string_view, 10> kTorch = {
      "/torch/nn/",   "/torch/optim/", "/torch/autograd/", "/torch/utils/", "/torch/_",
      "/torch/cuda/", "/torch/amp/",   "/torch/func",      "/torch/fx/",    "/torch/distributed/"};
  static constexpr std::array<std::string_view, 1> kInstalledTorch = {"-packages/torch/"};
  if (is_one_of(file, kTorch) || is_one_of(file, kInstalledTorch)) return FrameOrigin::kTorch;
  if (is_one_of(file, kInstalled) || is_one_of(file, kGenerated)) return FrameOrigin::kLibrary;
  return FrameOrigin::kProgram;
}

std::string frame_text(const memory::Snapshot& snapshot, const Frame& frame) {
  const std::string_view name = snapshot.text(frame.name);
  const std::string_view file = snapshot.text(frame.file);
  if (file.empty()) return std::string(name);  // one text for all of it
  if (origin_of(file) == FrameOrigin::kCompiled) return without_arguments(name);
  return std::string(base_name(file)) + ":" + std::to_string(frame.line) + " " + std::string(name);
}

bool is_place(const memory::Snapshot& snapshot, memory::StackId stack) {
  const auto frames = snapshot.stacks[stack];
  if (frames.empty()) return false;
  const Frame& outermost = snapshot.stacks.frame(frames.back());
  return snapshot.text(outermost.file).empty() &&
         memory::names_a_pass(snapshot.text(outermost.name));
}

std::string place_text(const memory::Snapshot& snapshot, memory::StackId stack, std::size_t depth) {
  std::string out;
  std::size_t levels = 0;
  const auto frames = snapshot.stacks[stack];
  for (std::size_t i = frames.size(); i-- > 0 && (depth == 0 || levels < depth);) {
    const std::string_view name = snapshot.text(snapshot.stacks.frame(frames[i]).name);
    if (memory::names_a_pass(name)) continue;
    if (!out.empty()) out += memory::kPlaceBetween;
    out += name;
    ++levels;
  }
  return out;
}

StackTexts::StackTexts(const memory::Snapshot& snapshot) : snapshot_(&snapshot) {
  const memory::Stacks& stacks = snapshot.stacks;
  origin_.reserve(stacks.frames().size());
  for (const Frame& frame : stacks.frames())
    origin_.push_back(origin_of(snapshot.text(frame.file)));

  std::map<std::vector<Frame>, std::uint32_t> known;
  std::vector<Frame> key;
  for (memory::StackId id = 0; id < stacks.size(); ++id) {
    const bool python = has_python(id);
    key.clear();
    for (const FrameId frame : stacks[id]) {
      if (!python || origin_[frame] != FrameOrigin::kCompiled) key.push_back(stacks.frame(frame));
    }
    const auto [found, added] =
        known.try_emplace(key, static_cast<std::uint32_t>(first_of_group_.size()));
    if (added) first_of_group_.push_back(id);
    group_.push_back(found->second);
  }
  no_stack_ = groups();
  if (const auto empty = known.find({}); empty != known.end()) {
    no_stack_ = empty->second;
  } else {
    first_of_group_.push_back(memory::kNoStack);
  }
}

bool StackTexts::has_python(memory::StackId stack) const {
  return std::ranges::any_of(snapshot_->stacks[stack], [&](FrameId frame) {
    return origin_[frame] != FrameOrigin::kCompiled;
  });
}

std::string StackTexts::representative(memory::StackId stack) const {
  const memory::Stacks& stacks = snapshot_->stacks;
  if (is_place(*snapshot_, stack)) {
    std::string modules = place_text(*snapshot_, stack, 0);
    return modules.empty() ? frame_text(*snapshot_, stacks.frame(stacks[stack].back())) : modules;
  }
  const auto text = [&](FrameId frame) { return frame_text(*snapshot_, stacks.frame(frame)); };
  for (const FrameOrigin wanted :
       {FrameOrigin::kProgram, FrameOrigin::kLibrary, FrameOrigin::kTorch}) {
    for (const FrameId frame : stacks[stack]) {
      if (origin_[frame] == wanted) return text(frame);
    }
  }
  // A node of the backward pass is named by its operator; else the first that is no plumbing.
  for (const FrameId frame : stacks[stack]) {
    const std::string_view name = snapshot_->text(stacks.frame(frame).name);
    static constexpr std::string_view kNode = "torch::autograd::generated::";
    const std::size_t at = name.find(kNode);
    const std::size_t end = name.find("::apply");
    if (at != std::string_view::npos && end != std::string_view::npos && end > at) {
      return std::string(name.substr(at + kNode.size(), end - at - kNode.size()));
    }
  }
  for (const FrameId frame : stacks[stack]) {
    if (!is_plumbing(snapshot_->text(stacks.frame(frame).name))) return text(frame);
  }
  return {};
}

// The innermost Python call, if it is not the one that tells.
std::string StackTexts::innermost(memory::StackId stack) const {
  for (const FrameId frame : snapshot_->stacks[stack]) {
    if (origin_[frame] == FrameOrigin::kCompiled) continue;
    if (origin_[frame] == FrameOrigin::kProgram) return {};
    const memory::Frame& inner = snapshot_->stacks.frame(frame);
    return std::string(base_name(snapshot_->text(inner.file))) + ":" + std::to_string(inner.line);
  }
  return {};
}

// The call of the program around the one that tells.
std::string StackTexts::caller(memory::StackId stack) const {
  bool inside = false;
  for (const FrameId frame : snapshot_->stacks[stack]) {
    if (origin_[frame] != FrameOrigin::kProgram) continue;
    if (inside) return frame_text(*snapshot_, snapshot_->stacks.frame(frame));
    inside = true;
  }
  return {};
}

std::vector<std::string> StackTexts::told_apart(std::span<const memory::StackId> stacks) const {
  std::vector<std::string> texts;
  texts.reserve(stacks.size());
  for (const memory::StackId stack : stacks) texts.push_back(representative(stack));
  const auto add_where_equal = [&](std::string_view link, auto more) {
    std::map<std::string, std::set<std::uint32_t>> groups;
    for (std::size_t i = 0; i < stacks.size(); ++i) groups[texts[i]].insert(group(stacks[i]));
    for (std::size_t i = 0; i < stacks.size(); ++i) {
      if (texts[i].empty() || groups[texts[i]].size() < 2) continue;
      const std::string text = more(stacks[i]);
      if (!text.empty()) texts[i] += std::string(link) + text;
    }
  };
  add_where_equal(" → ", [&](memory::StackId stack) { return innermost(stack); });
  add_where_equal(" ← ", [&](memory::StackId stack) { return caller(stack); });
  return texts;
}

std::string StackTexts::folded(memory::StackId stack) const {
  const bool python = has_python(stack);
  std::string out;
  const std::span<const FrameId> frames = snapshot_->stacks[stack];
  for (std::size_t i = frames.size(); i-- > 0;) {
    if (python && origin_[frames[i]] == FrameOrigin::kCompiled) continue;
    if (!out.empty()) out += ';';
    out += frame_text(*snapshot_, snapshot_->stacks.frame(frames[i]));
  }
  return out;
}

}  // namespace stepscope::analysis
