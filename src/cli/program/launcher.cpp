// Finds the launcher (torchrun, srun, mpirun) in the environment, and names the run by it.
#include "cli/program/launcher.h"

#include <unistd.h>

#include <array>
#include <ctime>
#include <filesystem>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "base/number_text.h"
#include "cli/options/arguments.h"

namespace stepscope::cli {
namespace {

// The innermost first, as in python/stepscope/recording/placement.py, which says why: rank, size of
// the world, rank on this machine.
struct Variables {
  const char *rank, *world_size, *local_rank;
};
constexpr std::array<Variables, 5> kLaunchers = {{
    {"RANK", "WORLD_SIZE", "LOCAL_RANK"},
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"},
    {"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"},
    {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID"},
    {"HOROVOD_RANK", "HOROVOD_SIZE", "HOROVOD_LOCAL_RANK"},
}};

// Also as there; STEPSCOPE_LAUNCH is ours to set.
constexpr std::array<const char*, 12> kOfLaunch = {"SLURM_JOB_ID",
                                                   "SLURM_STEP_ID",
                                                   "SLURM_RESTART_COUNT",
                                                   "TORCHELASTIC_RUN_ID",
                                                   "TORCHELASTIC_RESTART_COUNT",
                                                   "MASTER_ADDR",
                                                   "MASTER_PORT",
                                                   "PBS_JOBID",
                                                   "LSB_JOBID",
                                                   "PMIX_NAMESPACE",
                                                   "PALS_APID",
                                                   "FLUX_JOB_ID"};

std::string variable(const char* name) { return process_environment(name).value_or(""); }

std::optional<std::int64_t> number_of(const char* name) {
  const auto value = base::parse_number<std::int64_t>(variable(name));
  return value && *value >= 0 ? value : std::nullopt;
}

// train for train.py, lightning for `python -m lightning`.
std::string program_name(const std::vector<std::string>& words) {
  if (const std::string script = script_among(words); !script.empty()) {
    return std::filesystem::path(script).stem().string();
  }
  if (std::string module = module_among(words); !module.empty()) return module;
  return std::filesystem::path(words.front()).stem().string();
}

std::string id_of(bool is_there, bool by_srun) {
  if (const std::string job = variable("SLURM_JOB_ID"); !job.empty()) {
    const std::string step = variable("SLURM_STEP_ID");
    return by_srun && !step.empty() ? fmt::format("{}.{}", job, step) : job;
  }
  if (!is_there) return {};
  if (std::string elastic = variable("TORCHELASTIC_RUN_ID"); !elastic.empty()) return elastic;
  std::string name = variable("PMIX_NAMESPACE");  // of Open MPI: prterun-host-1234@1
  for (char& c : name) {
    if (c == '/' || c == '@') c = '-';
  }
  return name;
}

}  // namespace

std::string host_name() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

Launcher launcher_around() {
  Launcher out;
  bool by_srun = false;
  for (const Variables& one : kLaunchers) {
    const auto rank = number_of(one.rank);
    const auto size = number_of(one.world_size);
    // A batch script is rank 0 of its own job, and no launcher is around it: it has no size.
    if (!rank || !size || *rank >= *size) continue;
    out.is_there = true;
    by_srun = std::string_view(one.rank).starts_with("SLURM");
    out.rank = *rank;
    out.world_size = *size;
    out.local_rank = number_of(one.local_rank).value_or(*rank);
    break;
  }
  out.id = id_of(out.is_there, by_srun);
  return out;
}

std::string launch_key(const Launcher& launcher, const std::string& own) {
  std::string key;
  const bool has_namespace = !variable("PMIX_NAMESPACE").empty();
  for (const char* name : kOfLaunch) {
    const std::string value = variable(name);
    if (has_namespace && std::string_view(name) == "SLURM_STEP_ID") continue;
    if (!value.empty()) key += fmt::format("{}{}={}", key.empty() ? "" : " ", name, value);
  }
  if (launcher.is_there) return key;
  return key + fmt::format("{}STEPSCOPE_LAUNCH={}", key.empty() ? "" : " ", own);
}

std::string expanded(const std::string& path, const Launcher& launcher) {
  std::string job = "nojob";
  for (const char* name : {"LSB_JOBID", "PBS_JOBID", "SLURM_JOB_ID"}) {
    if (const std::string given = variable(name); !given.empty()) job = given;
  }
  const std::string host = host_name();
  std::string out;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const char next = path[i] == '%' && i + 1 < path.size() ? path[i + 1] : '\0';
    if (next == 'j') out += job;
    if (next == 'h') out += host.substr(0, host.find('.'));
    if (next == 'r') out += std::to_string(launcher.rank);
    if (next == '%') out += '%';
    const bool is_known = next == 'j' || next == 'h' || next == 'r' || next == '%';
    if (is_known) {
      ++i;
    } else {
      out += path[i];
    }
  }
  return out;
}

std::string module_among(const std::vector<std::string>& words) {
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if (words[i] == "-m") return words[i + 1];
  }
  return {};
}

std::string script_among(const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    if (word.size() > 3 && word.ends_with(".py")) return word;
  }
  return {};
}

std::string new_run_folder(const std::vector<std::string>& words, const Launcher& launcher) {
  // A percent sign in a name is one.
  std::string name;
  for (const char c : "stepscope-runs/" + program_name(words)) {
    name += c == '%' ? std::string("%%") : std::string(1, c);
  }
  if (!launcher.id.empty()) return name + "-" + launcher.id;
  if (launcher.is_there) return name;  // the same in all of them
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::localtime_r(&now, &parts);
  std::array<char, 32> text{};
  const std::size_t length = std::strftime(text.data(), text.size(), "-%Y%m%d-%H%M%S", &parts);
  return name.append(text.data(), length);
}

}  // namespace stepscope::cli
