// The control groups of a process, and the limits they set.
#include "base/control_groups.h"

#include <algorithm>
#include <span>

namespace stepscope::base {
namespace {

std::string_view take_until(std::string_view& text, char mark) {
  const std::size_t size = std::min(text.find(mark), text.size());
  const std::string_view part = text.substr(0, size);
  text.remove_prefix(std::min(size + 1, text.size()));
  return part;
}

std::string folder_of(const std::string& root, std::span<const std::string> controllers) {
  std::string folder = root;
  for (const std::string& one : controllers) {
    folder += &one == controllers.data() ? '/' : ',';
    folder += one;
  }
  return folder;
}

}  // namespace

bool ControlGroup::has_controller(std::string_view controller) const {
  return std::ranges::find(controllers, controller) != controllers.end();
}

std::vector<std::string> ControlGroup::mounts(const std::string& root) const {
  if (is_unified()) return {root, root + "/unified"};
  std::vector<std::string> found;
  if (controllers.size() > 1) {
    found.push_back(folder_of(root, controllers));
    // Old kernels say "cpuacct,cpu" of what systemd mounts as "cpu,cpuacct".
    std::vector<std::string> sorted = controllers;
    std::ranges::sort(sorted);
    if (sorted != controllers) found.push_back(folder_of(root, sorted));
  }
  for (const std::string& one : controllers) found.push_back(folder_of(root, {&one, 1}));
  return found;
}

std::vector<ControlGroup> control_groups(std::string_view text) {
  std::vector<ControlGroup> groups;
  while (!text.empty()) {
    std::string_view line = take_until(text, '\n');
    if (std::ranges::count(line, ':') < 2) continue;
    take_until(line, ':');  // its number
    std::string_view names = take_until(line, ':');
    ControlGroup& group = groups.emplace_back();
    while (!names.empty()) group.controllers.emplace_back(take_until(names, ','));
    group.path = line;
  }
  return groups;
}

std::vector<std::string> folders_up(const std::string& mount, std::string path) {
  if (path == "/") path.clear();
  std::vector<std::string> folders;
  while (true) {
    folders.push_back(mount + path);
    if (path.empty()) return folders;
    path.resize(std::min(path.rfind('/'), path.size() - 1));
  }
}

}  // namespace stepscope::base
