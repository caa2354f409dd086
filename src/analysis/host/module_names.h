// How recordings name the nn.Module a piece of time belongs to, taken apart. Python frames name one
// instance ("nn.Module: Linear_3"); TorchScript operators and Lightning's ranges name a whole path.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stepscope::analysis {

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

}  // namespace stepscope::analysis
