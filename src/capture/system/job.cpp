// Finds the processes of a job: the ranks that left a file on this node, and all that they started.
#include "capture/system/job.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "capture/system/text_file.h"

namespace stepscope::capture {
namespace {

constexpr std::string_view kFile = "process-";
constexpr std::array<const char*, 7> kDeviceVariables = {
    "CUDA_VISIBLE_DEVICES", "SLURM_STEP_GPUS",    "SLURM_JOB_GPUS",   "ROCR_VISIBLE_DEVICES",
    "HIP_VISIBLE_DEVICES",  "GPU_DEVICE_ORDINAL", "CUDA_DEVICE_ORDER"};

struct Stat {
  int parent = 0;
  std::int64_t start = 0;  // since the machine booted, in the system's ticks
};

// "1234 (a name) S 1 …": the name may hold anything, brackets too.
std::optional<Stat> stat_of(const SystemPlace& place, int pid) {
  const auto text = text_of(place.proc + "/" + std::to_string(pid) + "/stat");
  if (!text) return std::nullopt;
  const std::size_t name_end = text->rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::string_view rest = std::string_view(*text).substr(name_end + 1);
  next_word(rest);  // the state
  Stat stat;
  const auto parent = whole_number(next_word(rest));
  // Fields are counted from 1, the state is the third, the start the 22nd.
  for (int field = 5; field < 22; ++field) next_word(rest);
  const auto start = whole_number(next_word(rest));
  if (!parent || !start) return std::nullopt;
  stat.parent = static_cast<int>(*parent);
  stat.start = *start;
  return stat;
}

}  // namespace

Variables device_variables() {
  Variables found;
  for (const char* name : kDeviceVariables) {
    if (const char* const value = std::getenv(name)) found[name] = value;  // NOLINT: at start
  }
  return found;
}

base::Status Job::announce(std::int64_t rank, std::int64_t local_rank,
                           const Variables& devices) const {
  const int pid = ::getpid();
  const auto own = stat_of(place_, pid);
  std::string text = "rank " + std::to_string(rank) + "\nlocal_rank " + std::to_string(local_rank) +
                     "\nstart " + std::to_string(own ? own->start : 0) + "\n";
  for (const auto& [name, value] : devices) {
    if (value.find('\n') == std::string::npos) text += joined({name, " ", value, "\n"});
  }
  text += "end\n";
  const std::string path = folder_ + "/" + std::string(kFile) + std::to_string(pid);
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  const bool written =
      file >= 0 && ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const int error = errno;
  if (file >= 0) ::close(file);
  if (!written) return base::fail(base::Code::kIo, path + ": " + error_text(error));
  return base::Done{};
}

void Job::withdraw() const {
  ::unlink((folder_ + "/" + std::string(kFile) + std::to_string(::getpid())).c_str());
}

std::optional<JobProcess> Job::read(const std::string& file_name) const {
  if (!file_name.starts_with(kFile)) return std::nullopt;
  const auto pid = whole_number(std::string_view(file_name).substr(kFile.size()));
  const auto text = text_of(folder_ + "/" + file_name);
  if (!pid || !text || !text->ends_with("end\n")) return std::nullopt;
  JobProcess process{.pid = static_cast<int>(*pid)};
  std::int64_t start = -1;
  std::string_view rest = *text;
  while (!rest.empty()) {
    std::string_view line = next_line(rest);
    const std::string name(next_word(line));
    if (!line.empty()) line.remove_prefix(1);
    if (name == "rank") process.rank = whole_number(line).value_or(0);
    if (name == "local_rank") process.local_rank = whole_number(line).value_or(0);
    if (name == "start") start = whole_number(line).value_or(-1);
    if (std::ranges::find(kDeviceVariables, name) != kDeviceVariables.end()) {
      process.devices[name] = line;
    }
  }
  // A number may belong to another process by now.
  const auto now = stat_of(place_, process.pid);
  if (!now || now->start != start) return std::nullopt;
  return process;
}

// A process that leaves removes its file first.
void Job::find_lost(const std::string& file_name) {
  const auto known = known_.find(file_name);
  if (known == known_.end() || !text_of(folder_ + "/" + file_name)) return;
  lost_.insert(known->second);
  known_.erase(known);
}

void Job::refresh() {
  JobView seen;
  std::vector<JobProcess>& processes = seen.processes;
  announcements_ = names_in(folder_);
  for (const std::string& name : announcements_) {
    auto process = read(name);
    if (!process) {
      find_lost(name);
      continue;
    }
    known_[name] = process->rank;
    processes.push_back(*std::move(process));
  }
  std::ranges::sort(processes, {},
                    [](const JobProcess& one) { return std::pair(one.rank, one.pid); });
  // Before they are looked for: one that is started meanwhile is a change.
  for (const JobProcess& process : processes) {
    const auto text = list_of_children(process.pid);
    if (text) own_children_.at(process.pid).last = *text;
  }
  find_children(processes);
  const std::string own = std::to_string(::getpid());
  is_hidden_ = text_of(joined({folder_, "/", kFile, own})) && !stat_of(place_, ::getpid());
  for (const JobProcess& process : processes) {
    seen.ranks[process.pid] = process.rank;
    for (const int child : process.children) seen.ranks[child] = process.rank;
  }
  view_ = std::make_shared<const JobView>(std::move(seen));
  board_->show(view_);
}

// Of those that the first thread started, as loops do; where the kernel has no such list, nothing.
std::optional<std::string_view> Job::list_of_children(int pid) {
  const std::string name = std::to_string(pid);
  const auto found = own_children_.try_emplace(
      pid,
      OwnChildren{TextFile(joined({place_.proc, "/", name, "/task/", name, "/children"})), {}});
  return found.first->second.file.read();
}

bool Job::has_changed() {
  return std::ranges::any_of(processes(), [&](const JobProcess& process) {
    const auto text = list_of_children(process.pid);
    return text && *text != own_children_.at(process.pid).last;
  });
}

bool Job::has_newcomers() const {
  return std::ranges::any_of(names_in(folder_), [&](const std::string& name) {
    return name.starts_with(kFile) && !std::ranges::binary_search(announcements_, name);
  });
}

// A process that another of the job started belongs to the nearest that announced itself.
void Job::find_children(std::vector<JobProcess>& processes) {
  // A machine has thousands of processes: each is looked at once, when it is new.
  std::map<int, int> parents;
  for (const std::string& name : names_in(place_.proc)) {
    const auto number = whole_number(name);
    if (!number) continue;
    const auto pid = static_cast<int>(*number);
    if (const auto known = parents_.find(pid); known != parents_.end()) {
      parents.insert(*known);
    } else if (const auto stat = stat_of(place_, pid)) {
      parents.emplace(pid, stat->parent);
    }
  }
  parents_ = parents;
  std::map<int, JobProcess*> announced;
  for (JobProcess& process : processes) announced[process.pid] = &process;
  constexpr int kDeepest = 64;
  for (const auto& [pid, parent] : parents) {
    if (announced.contains(pid)) continue;
    int at = parent;
    for (int depth = 0; depth < kDeepest && at > 1; ++depth) {
      if (const auto found = announced.find(at); found != announced.end()) {
        found->second->children.push_back(pid);
        break;
      }
      const auto up = parents.find(at);
      if (up == parents.end()) break;
      at = up->second;
    }
  }
}

std::optional<std::int64_t> JobView::rank_of(int pid) const {
  const auto found = ranks.find(pid);
  return found == ranks.end() ? std::nullopt : std::optional(found->second);
}

int Job::parent_of(int pid) const {
  const auto found = parents_.find(pid);
  return found == parents_.end() ? 0 : found->second;
}

}  // namespace stepscope::capture
