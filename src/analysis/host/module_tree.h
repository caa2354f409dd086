// Which nn.Module every host event of a window belongs to, and in which pass: when the module ran,
// in the backward pass of its operators, or when activation checkpointing runs it again for that.
// Definition: docs/metrics/modules.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analysis/host/own_time.h"
#include "analysis/view.h"

namespace stepscope::analysis {

// How recordings name the nn.Module a piece of time belongs to, taken apart. Python frames name one
// instance ("nn.Module: Linear_3"); TorchScript operators and Lightning's ranges name a whole path.

struct ModuleName {
  std::string name;        // "Linear_3", "encoder"
  std::string class_name;  // "Linear"; empty: not said
  bool operator==(const ModuleName&) const = default;
};
using ModulePath = std::vector<ModuleName>;  // from the outside in; empty: names no module

// "nn.Module: Linear_3" → Linear_3, Linear.
ModulePath python_module(std::string_view frame);
// "TOP(Net)::forward.conv1(Conv2d)::forward.SELF(Conv2d)::helper." → TOP, conv1: a method that a
// module calls on itself is no other module.
ModulePath module_hierarchy(std::string_view text);
// "[pl][module]torch.nn.modules.linear.Linear: model.encoder.0" → model, encoder, 0.
ModulePath lightning_module(std::string_view range);

enum class ModuleSource : std::uint8_t { kPython, kHierarchy, kLightning, kRanges };

// Whether anything in this window names modules in that way.
bool names_modules(const trace::Trace& trace, ModuleSource source);

enum class ModulePass : std::uint8_t { kForward, kBackward, kRecompute };

// A module as it was reached: the same instance below another caller is another node.
struct ModuleNode {
  std::uint32_t parent = 0;  // stands before its children; the root is its own
  std::uint32_t depth = 0;
  ModuleName name = {};
};

class ModuleTree {
 public:
  static constexpr std::uint32_t kRoot = 0;  // what belongs to no module
  // Modules further down belong to the one at this depth: paths stay short, whatever recurs.
  static constexpr std::uint32_t kDeepest = 100;

  ModuleTree(const WindowView& window, const OwnTime& times, ModuleSource source);

  const std::vector<ModuleNode>& nodes() const { return nodes_; }
  std::uint32_t node(trace::Row row) const { return node_[row]; }
  ModulePass pass(trace::Row row) const { return pass_[row]; }
  bool is_call(trace::Row row) const { return is_call_[row]; }  // the module's own frame
  bool too_deep() const { return too_deep_; }

 private:
  trace::Row forward_of(trace::Row row) const;
  bool is_backward_root(trace::Row row);
  const ModulePath& path_of(trace::Row row);
  std::uint32_t child(std::uint32_t parent, const ModuleName& name);
  std::uint32_t find_child(std::uint32_t parent, const std::string& name) const;
  std::uint32_t enter(std::uint32_t parent, const ModulePath& path);
  std::uint32_t enter_again(std::uint32_t parent, const ModulePath& path);
  void place_forward(trace::Row row);
  void place_backward(trace::Row row);

  const trace::Trace& trace_;
  const OwnTime& times_;
  ModuleSource source_;
  std::vector<ModuleNode> nodes_;
  std::vector<std::unordered_map<std::string, std::uint32_t>> children_;  // by node
  std::unordered_map<std::string, std::uint32_t> home_;  // where an instance was first called
  std::vector<ModulePath> paths_;                        // by name or text
  std::vector<std::uint8_t> knows_;                      // by the same: paths_ is filled
  std::vector<std::uint8_t> engine_;                     // by name: 0 not asked, 1 no, 2 yes
  std::vector<std::uint32_t> node_;
  std::vector<ModulePass> pass_;
  std::vector<bool> is_call_;
  bool too_deep_ = false;
};

}  // namespace stepscope::analysis
