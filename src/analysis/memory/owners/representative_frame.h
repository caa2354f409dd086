// A stack in a few words: the innermost call of the program itself, not of the libraries it uses.
// The rule for what is a library stands here and nowhere else.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "memory/snapshot.h"

namespace stepscope::analysis {

enum class FrameOrigin : std::uint8_t {
  kProgram,   // the user's own files, and code without a file ("<string>")
  kLibrary,   // installed packages, Python's own modules, what compilers wrote
  kTorch,     //
  kCompiled,  // C++: no line of Python
};
FrameOrigin origin_of(std::string_view file);

// "/w/train.py" → "train.py".
std::string_view base_name(std::string_view path);

// The text of one frame: "model.py:123 forward"; C++ without its arguments.
std::string frame_text(const memory::Snapshot& snapshot, const memory::Frame& frame);

// Whether a stack is the recorder's note of the modules at work (memory/places.h).
bool is_place(const memory::Snapshot& snapshot, memory::StackId stack);
// Its modules, outermost first: "GPT / blocks.3 (Block)", at most `depth` of them (0: all); empty
// outside of modules.
std::string place_text(const memory::Snapshot& snapshot, memory::StackId stack, std::size_t depth);

class StackTexts {
 public:
  explicit StackTexts(const memory::Snapshot& snapshot);

  // "model.py:123 forward"; of stacks without any of the program's files what is nearest to it; of
  // compiled stacks the operator ("AddmmBackward0"). Empty for no stack.
  std::string representative(memory::StackId stack) const;
  // The same for each of several stacks. Where two that are called in different ways have the same
  // text, it goes on with the innermost call ("model.py:123 forward → linear.py:134"), then
  // with who called the line.
  std::vector<std::string> told_apart(std::span<const memory::StackId> stacks) const;
  // The whole stack, outermost first, by ';'. C++ frames only where there is no Python.
  std::string folded(memory::StackId stack) const;

  // Stacks that differ in C++ frames only are one group. Dense, in the order of stack ids; the last
  // group is that of no stack.
  std::uint32_t groups() const { return static_cast<std::uint32_t>(first_of_group_.size()); }
  std::uint32_t group(memory::StackId stack) const {
    return stack < group_.size() ? group_[stack] : no_stack_;
  }
  memory::StackId first_of(std::uint32_t group) const { return first_of_group_[group]; }

 private:
  std::string innermost(memory::StackId stack) const;
  std::string caller(memory::StackId stack) const;
  bool has_python(memory::StackId stack) const;

  const memory::Snapshot* snapshot_;
  std::vector<FrameOrigin> origin_;  // by frame
  std::vector<std::uint32_t> group_;
  std::vector<memory::StackId> first_of_group_;
  std::uint32_t no_stack_ = 0;
};

}  // namespace stepscope::analysis
