// The launcher of this process: torchrun, srun or mpirun; and where its run goes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace stepscope::cli {

struct Launcher {
  bool is_there = false;
  std::int64_t rank = 0, world_size = 1, local_rank = 0;
  std::string id;  // what the processes of one launch share; empty: the launcher has none
  bool is_first() const { return rank == 0; }
  bool has_name() const { return is_there || !id.empty(); }
};

Launcher launcher_around();

// What all ranks of this launch share and no other launch has, as stepscope.profile writes it into
// attempt.json. `own` is for a program that no launcher started.
std::string launch_key(const Launcher& launcher, const std::string& own);

// %j becomes the job, %h the host, %r the rank, %% a percent sign.
std::string expanded(const std::string& path, const Launcher& launcher);

// A folder in stepscope-runs: by the program's name, the job, or the time.
std::string new_run_folder(const std::vector<std::string>& words, const Launcher& launcher);

// The script of `torchrun --nproc-per-node 2 train.py`; empty where no word is one.
std::string script_among(const std::vector<std::string>& words);

// What `-m` names in a command; empty where there is none.
std::string module_among(const std::vector<std::string>& words);

std::string host_name();

}  // namespace stepscope::cli
