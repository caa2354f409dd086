#include "session/compare/loader_sweep.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "analysis/loading/finished_trial.h"
#include "session/analyze.h"

namespace stepscope::session {
namespace {

// "slurm": {"job_id": "123"} of run.json, which the folder of a run holds.
std::string job_of(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).lexically_normal() / "run.json";
  std::ifstream file(folder, std::ios::binary);
  const auto facts = nlohmann::json::parse(file, nullptr, false);
  if (facts.is_object() && facts.contains("slurm") && facts["slurm"].is_object()) {
    const auto& slurm = facts["slurm"];
    if (slurm.contains("job_id") && slurm["job_id"].is_string()) {
      return slurm["job_id"].get<std::string>();
    }
  }
  std::filesystem::path name = std::filesystem::path(path).lexically_normal();
  if (name.filename().empty()) name = name.parent_path();
  return name.filename().string();
}

// What the job's samples of the machine tell: of its ranks, the one with most memory, and the one
// with the fewest processors.
void add_machine(analysis::TriedSetting& job, const analysis::Answer& system) {
  for (const base::Table& table : system.tables) {
    if (table.name() != "processes") continue;
    const auto cpus = table.find("usable_cores");
    const auto peak = table.find("pss_max_bytes");
    for (std::size_t row = 0; row < table.rows(); ++row) {
      if (cpus && !table.is_null(*cpus, row)) {
        const double own = table.real_at(*cpus, row);
        job.job_cpus = std::min(job.job_cpus.value_or(own), own);
      }
      if (peak && !table.is_null(*peak, row)) {
        const base::Bytes own = table.int_at(*peak, row);
        job.peak_bytes = std::max(job.peak_bytes.value_or(0), own);
      }
    }
  }
}

}  // namespace

base::Result<analysis::TriedSetting> finished_job(const OpenedRun& recording,
                                                  const std::string& path, unsigned threads) {
  SCOPE_TRY(const Study study, Study::prepare(recording, {}, threads));
  analysis::TriedSetting out = analysis::finished_trial(study.view());
  out.job = job_of(path);
  SCOPE_TRY(const analysis::Answer system, study.ask("system"));
  add_machine(out, system);
  return out;
}

}  // namespace stepscope::session
