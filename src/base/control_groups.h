// The control groups of a process: what /proc/self/cgroup says, and where their files lie. Limits
// of a container or a batch system stand there.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stepscope::base {

// A line of the file: "4:cpu,cpuacct:/job_1", or "0::/job_1" of version 2, which has them all.
struct ControlGroup {
  std::vector<std::string> controllers;  // none: version 2
  std::string path;

  bool has_controller(std::string_view controller) const;
  bool is_unified() const { return controllers.empty(); }

  // Where its hierarchy may be mounted below root ("/sys/fs/cgroup"): controllers that share one
  // have a folder named after both, and often, but not always, a link for each.
  std::vector<std::string> mounts(const std::string& root) const;
};
std::vector<ControlGroup> control_groups(std::string_view text);

// The folder of a group and those of the groups around it, the innermost first: a limit anywhere
// above binds as well. In a container the mount already is the group, and the path leads nowhere;
// that is harmless.
std::vector<std::string> folders_up(const std::string& mount, std::string path);

}  // namespace stepscope::base
