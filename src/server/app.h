// From a request to an answer: access, routes and answers that are kept.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "server/access.h"
#include "server/answer_store.h"
#include "server/assets.h"
#include "server/loaded_run.h"
#include "server/request.h"
#include "server/run_shelf.h"
#include "session/full_report.h"

namespace stepscope::server {

struct AppOptions {
  std::string program_version;
  std::string base_path;  // "" or "/a/b"
  std::string assets;
  std::vector<std::string> allowed_hosts;
  std::string token;
  std::vector<analysis::OwnPeaks> peaks;
  advice::OwnThresholds thresholds;
  std::size_t most_kept_bytes = std::size_t{128} << 20U;
};

class App {
 public:
  App(AppOptions options, RunShelf& shelf);

  // Never throws; safe from any thread.
  Response answer(const Request& request);
  // Whether an answer may take long: it then waits among its like.
  static bool is_long(const Request& request);

  // `data` of the events that tell of loading.
  static std::string progress_data(const LoadReport& report);

 private:
  Response route(const Target& target);
  Response api(const Target& target);
  Response of_loaded(const Target& target, const RunLoader& loader);
  Response of_run(const Target& target, const LoadedRun& run, const std::string& version);
  // `loader` is null where no run is chosen; `name` is the one by which it was asked for.
  Response run_state(const RunLoader* loader, const std::string& name) const;
  Response runs(const Target& target) const;

  AppOptions options_;
  RunShelf* shelf_;
  Access access_;
  Assets assets_;
  AnswerStore store_;
};

}  // namespace stepscope::server
