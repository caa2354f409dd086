// Finds the nn.Module and the pass of every host event of a window.
#include "analysis/host/module_tree.h"

#include <algorithm>

#include "analysis/arithmetic/sorted_runs.h"
#include "trace/step_names.h"

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

namespace {

using trace::Kind;
using trace::Row;

constexpr std::uint32_t kModuleTreeNone = 0xffffffff;

// The words in which a source may name the module of a row, or kNoString.
base::StringId words_of(const trace::Trace& trace, Row row, ModuleSource source) {
  const Kind kind = trace.kind()[row];
  switch (source) {
    case ModuleSource::kPython:
      return kind == Kind::kPython ? trace.name()[row] : base::kNoString;
    case ModuleSource::kHierarchy: {
      const std::uint32_t entry = trace.stacks().rows.find(row);
      return entry == base::RowSet::kNone ? base::kNoString
                                          : trace.stacks().module_hierarchy[entry];
    }
    case ModuleSource::kLightning:
    case ModuleSource::kRanges:
      return kind == Kind::kAnnotation ? trace.name()[row] : base::kNoString;
  }
  return base::kNoString;
}

ModulePath path_in(std::string_view words, ModuleSource source) {
  switch (source) {
    case ModuleSource::kPython:
      return python_module(words);
    case ModuleSource::kHierarchy:
      return module_hierarchy(words);
    case ModuleSource::kLightning:
      return lightning_module(words);
    case ModuleSource::kRanges:
      break;
  }
  if (words.empty() || trace::names_a_step(words)) return {};
  return {{std::string(words), {}}};
}

// Python frames and ranges say who they are and stand inside of their callers; the others say the
// whole path.
bool is_relative(ModuleSource source) {
  return source == ModuleSource::kPython || source == ModuleSource::kRanges;
}

}  // namespace

bool names_modules(const trace::Trace& trace, ModuleSource source) {
  std::vector<bool> asked(trace.strings().size());
  for (Row row = 0; row < trace.size(); ++row) {
    const base::StringId words = words_of(trace, row, source);
    if (words == base::kNoString || asked[words]) continue;
    asked[words] = true;
    if (!path_in(trace.text(words), source).empty() && OwnTime::is_span(trace, row)) return true;
  }
  return false;
}

ModuleTree::ModuleTree(const WindowView& window, const OwnTime& times, ModuleSource source)
    : trace_(*window.trace),
      times_(times),
      source_(source),
      nodes_(1),
      children_(1),
      paths_(trace_.strings().size()),
      knows_(trace_.strings().size()),
      engine_(trace_.strings().size()),
      node_(trace_.size(), kRoot),
      pass_(trace_.size(), ModulePass::kForward),
      is_call_(trace_.size()) {
  // What the backward pass runs again has to find where it ran before, and backward operators where
  // their forward ones did: so those come after all others, by time over all threads.
  std::vector<bool> is_backward(trace_.size());
  std::vector<Row> later;
  for (Row row = 0; row < trace_.size(); ++row) {
    const Row parent = times_.parent(row);
    is_backward[row] = (parent != trace::kNoRow && is_backward[parent]) || is_backward_root(row);
    if (is_backward[row]) {
      later.push_back(row);
    } else {
      place_forward(row);
    }
  }
  sort_runs(later, [&](Row a, Row b) { return trace_.start()[a] < trace_.start()[b]; });
  for (const Row row : later) place_backward(row);
}

// The forward operator of a row that is its backward, or kNoRow.
Row ModuleTree::forward_of(Row row) const {
  const std::uint32_t entry = trace_.backward().rows.find(row);
  return entry == base::RowSet::kNone ? trace::kNoRow : trace_.backward().forward[entry];
}

bool ModuleTree::is_backward_root(Row row) {
  if (forward_of(row) != trace::kNoRow) return true;
  const base::StringId name = trace_.name()[row];
  if (trace_.kind()[row] != Kind::kCpuOp || name == base::kNoString) return false;
  if (engine_[name] == 0) {
    engine_[name] = trace_.text(name).starts_with("autograd::engine::evaluate_function") ? 2 : 1;
  }
  return engine_[name] == 2;
}

const ModulePath& ModuleTree::path_of(Row row) {
  static const ModulePath kNothing;
  const base::StringId words = words_of(trace_, row, source_);
  if (words == base::kNoString || !OwnTime::is_span(trace_, row)) return kNothing;
  if (knows_[words] == 0) {
    knows_[words] = 1;
    paths_[words] = path_in(trace_.text(words), source_);
  }
  return paths_[words];
}

std::uint32_t ModuleTree::find_child(std::uint32_t parent, const std::string& name) const {
  const auto found = children_[parent].find(name);
  return found == children_[parent].end() ? kModuleTreeNone : found->second;
}

std::uint32_t ModuleTree::child(std::uint32_t parent, const ModuleName& name) {
  if (nodes_[parent].depth == kDeepest) {
    too_deep_ = true;
    return parent;
  }
  const std::uint32_t known = find_child(parent, name.name);
  if (known != kModuleTreeNone) {
    if (nodes_[known].name.class_name.empty()) nodes_[known].name.class_name = name.class_name;
    return known;
  }
  const auto node = static_cast<std::uint32_t>(nodes_.size());
  nodes_.push_back({.parent = parent, .depth = nodes_[parent].depth + 1, .name = name});
  children_.emplace_back();
  children_[parent].emplace(name.name, node);
  return node;
}

std::uint32_t ModuleTree::enter(std::uint32_t parent, const ModulePath& path) {
  std::uint32_t node = is_relative(source_) ? parent : kRoot;
  for (const ModuleName& name : path) node = child(node, name);
  return node;
}

// A module that the backward pass runs once more: the one around its operator, one below it that
// ran before, or wherever it ran first.
std::uint32_t ModuleTree::enter_again(std::uint32_t parent, const ModulePath& path) {
  if (!is_relative(source_)) return enter(parent, path);
  const std::string& name = path.front().name;
  for (std::uint32_t node = parent; node != kRoot; node = nodes_[node].parent) {
    if (nodes_[node].name.name == name) return node;
  }
  if (const std::uint32_t known = find_child(parent, name); known != kModuleTreeNone) return known;
  const auto home = home_.find(name);
  return home == home_.end() ? child(parent, path.front()) : home->second;
}

void ModuleTree::place_forward(Row row) {
  const Row parent = times_.parent(row);
  if (parent != trace::kNoRow) node_[row] = node_[parent];
  const ModulePath& path = path_of(row);
  if (path.empty()) return;
  const std::uint32_t node = enter(node_[row], path);
  is_call_[row] = node != node_[row] || !is_relative(source_);
  node_[row] = node;
  if (is_relative(source_)) home_.emplace(path.front().name, node);
}

void ModuleTree::place_backward(Row row) {
  const Row parent = times_.parent(row);
  const Row forward = forward_of(row);
  pass_[row] = ModulePass::kBackward;
  if (forward != trace::kNoRow) {
    node_[row] = node_[forward];
  } else if (parent != trace::kNoRow) {
    node_[row] =
        is_backward_root(row) && pass_[parent] == ModulePass::kForward ? kRoot : node_[parent];
    if (pass_[parent] == ModulePass::kRecompute) pass_[row] = ModulePass::kRecompute;
  }
  const ModulePath& path = path_of(row);
  if (path.empty()) return;
  node_[row] = pass_[row] == ModulePass::kRecompute ? enter(node_[row], path)
                                                    : enter_again(node_[row], path);
  pass_[row] = ModulePass::kRecompute;
}

}  // namespace stepscope::analysis
