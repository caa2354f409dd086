#include "analysis/host/module_names.h"

#include <algorithm>

namespace stepscope::analysis {
namespace {

constexpr std::string_view kFrame = "nn.Module: ";
constexpr std::string_view kRange = "[pl][module]";

// "Linear_3" → "Linear"; a name without a number is its own class.
std::string_view class_of(std::string_view instance) {
  const std::size_t line = instance.rfind('_');
  if (line == std::string_view::npos || line == 0 || line + 1 == instance.size()) return instance;
  const bool numbered =
      std::ranges::all_of(instance.substr(line + 1), [](char c) { return c >= '0' && c <= '9'; });
  return numbered ? instance.substr(0, line) : instance;
}

// Takes the part up to the next dot that stands outside of parentheses.
std::string_view next_part(std::string_view& text) {
  int depth = 0;
  std::size_t at = 0;
  for (; at < text.size(); ++at) {
    if (text[at] == '(') ++depth;
    if (text[at] == ')' && depth > 0) --depth;
    if (text[at] == '.' && depth == 0) break;
  }
  const std::string_view part = text.substr(0, at);
  text.remove_prefix(std::min(at + 1, text.size()));
  return part;
}

}  // namespace

ModulePath python_module(std::string_view frame) {
  if (!frame.starts_with(kFrame) || frame.size() == kFrame.size()) return {};
  const std::string_view instance = frame.substr(kFrame.size());
  return {{std::string(instance), std::string(class_of(instance))}};
}

ModulePath module_hierarchy(std::string_view text) {
  ModulePath path;
  while (!text.empty()) {
    std::string_view part = next_part(text);
    const std::size_t open = part.find('(');
    const std::size_t close = part.find(')', open == std::string_view::npos ? 0 : open);
    if (open == std::string_view::npos || close == std::string_view::npos || open == 0) continue;
    const std::string_view name = part.substr(0, open);
    if (name == "SELF") continue;
    path.push_back({std::string(name), std::string(part.substr(open + 1, close - open - 1))});
  }
  return path;
}

ModulePath lightning_module(std::string_view range) {
  if (!range.starts_with(kRange)) return {};
  range.remove_prefix(kRange.size());
  const std::size_t colon = range.find(": ");
  if (colon == std::string_view::npos) return {};
  std::string_view type = range.substr(0, colon);
  range.remove_prefix(colon + 2);
  ModulePath path;
  while (!range.empty()) {
    if (const std::string_view part = next_part(range); !part.empty()) {
      path.push_back({std::string(part), {}});
    }
  }
  // The type is written with the Python module it comes from.
  if (const std::size_t dot = type.rfind('.'); dot != std::string_view::npos) {
    type.remove_prefix(dot + 1);
  }
  if (!path.empty()) path.back().class_name = type;
  return path;
}

}  // namespace stepscope::analysis
