// Opens a run in the background and prepares what requests need.
#include "server/loaded_run.h"

#include <exception>
#include <new>
#include <utility>

#include <fmt/format.h>

#include "report/info/info.h"
#include "report/info/info_text.h"
#include "session/full_report.h"
#include "session/session.h"

namespace stepscope::server {
namespace {

constexpr std::size_t kMostStudies = 4;

base::Result<std::shared_ptr<const LoadedRun>> load_run(const RunPlace& place,
                                                        const session::OpenOptions& options) {
  auto run = std::make_shared<LoadedRun>();
  run->threads = options.threads;
  SCOPE_TRY(run->recording, session::open_within(place.within, place.paths, options));
  SCOPE_TRY(run->study, session::Study::prepare(run->recording, {}, options.threads));
  SCOPE_TRY(run->timeline, session::make_timeline(run->recording, *run->study, options.threads));
  run->info = report::info_json(session::summary_of(run->recording),
                                session::memory_of(run->recording), std::nullopt);
  return std::shared_ptr<const LoadedRun>(std::move(run));
}

}  // namespace

base::Result<std::shared_ptr<const session::Study>> LoadedRun::study_of(
    const analysis::Selection& selection) const {
  const std::string key =
      fmt::format("{}/{}", fmt::join(selection.ranks, ","), fmt::join(selection.steps, ","));
  const std::lock_guard lock(studies_mutex_);
  for (const auto& [known, study] : studies_) {
    if (known == key) return study;
  }
  SCOPE_TRY(session::Study made, session::Study::prepare(recording, selection, threads));
  auto study = std::make_shared<const session::Study>(std::move(made));
  if (studies_.size() >= kMostStudies) studies_.erase(studies_.begin());
  studies_.emplace_back(key, study);
  return std::shared_ptr<const session::Study>(study);
}

RunLoader::RunLoader(RunPlace place, session::OpenOptions options, LoadFailed failed)
    : place_(std::move(place)), options_(std::move(options)), failed_(std::move(failed)) {
  options_.stop = &stop_;
  options_.progress = [this](const session::Progress& progress) {
    const std::lock_guard lock(mutex_);
    report_.progress = progress;
  };
  thread_ = std::thread([this] { load(); });
}

RunLoader::~RunLoader() {
  stop_ = true;
  thread_.join();
}

void RunLoader::load() {
  std::string error;
  try {
    auto run = load_run(place_, options_);
    const std::lock_guard lock(mutex_);
    if (run) {
      report_.run = *run;
      report_.state = LoadState::kReady;
      return;
    }
    error = run.error().message;
  } catch (const std::bad_alloc&) {
    error = "not enough memory to read this";
  } catch (const std::exception& failed) {
    error = failed.what();
  }
  {
    const std::lock_guard lock(mutex_);
    report_.error = error;
    report_.state = LoadState::kFailed;
  }
  if (failed_ && !stop_) failed_(place_.name, error);
}

LoadReport RunLoader::report() const {
  const std::lock_guard lock(mutex_);
  return report_;
}

}  // namespace stepscope::server
