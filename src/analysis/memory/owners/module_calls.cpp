#include "analysis/memory/owners/module_calls.h"

#include <fmt/format.h>

#include "analysis/memory/owners/representative_frame.h"

namespace stepscope::analysis {
namespace {

constexpr std::string_view kModuleFolder = "/torch/nn/modules/";

// Module.__call__ in its parts.
bool is_call_in_module_calls(std::string_view name, std::string_view file) {
  return (name == "_call_impl" || name == "_wrapped_call_impl") && file.ends_with("/module.py") &&
         file.find(kModuleFolder) != std::string_view::npos;
}

}  // namespace

ModuleCalls::ModuleCalls(const memory::Snapshot& snapshot, std::size_t depth)
    : snapshot_(snapshot), depth_(depth), paths_(snapshot.stacks.size()) {}

std::string_view ModuleCalls::path(memory::StackId stack) {
  if (stack >= paths_.size()) return {};
  std::optional<std::string>& known = paths_[stack];
  if (!known) known = work_out(stack);
  return *known;
}

std::string ModuleCalls::work_out(memory::StackId stack) const {
  std::string path;
  std::size_t levels = 0;
  const memory::Frame* caller = nullptr;  // the frame around, if it is Python
  bool called = false;                    // the frame around is Module.__call__
  const auto frames = snapshot_.stacks[stack];
  if (is_place(snapshot_, stack)) return place_text(snapshot_, stack, depth_);
  for (std::size_t i = frames.size(); i-- > 0;) {
    const memory::Frame& frame = snapshot_.stacks.frame(frames[i]);
    const std::string_view file = snapshot_.text(frame.file);
    const FrameOrigin origin = origin_of(file);
    if (origin == FrameOrigin::kCompiled) continue;
    const bool calls = is_call_in_module_calls(snapshot_.text(frame.name), file);
    const bool room = depth_ == 0 || levels < depth_;
    // A container calls all of its modules in one line: that line tells nothing.
    if (calls && !called && room && caller != nullptr) {
      const std::string_view from = snapshot_.text(caller->file);
      if (origin_of(from) != FrameOrigin::kTorch) {
        path += fmt::format("{}{}:{}", path.empty() ? "" : " / ", base_name(from), caller->line);
        ++levels;
      }
    }
    if (called && !calls && room && !path.empty()) {
      const std::size_t at = file.find(kModuleFolder);
      std::string_view own = base_name(file);
      if (at != std::string_view::npos && own != "container.py") {
        own = own.substr(0, own.rfind('.'));
        path += fmt::format(" / {}", own);
        ++levels;
      }
    }
    called = calls;
    caller = &frame;
  }
  return path;
}

}  // namespace stepscope::analysis
