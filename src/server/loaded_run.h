// The run that is served: read in the background while the server already answers.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"
#include "session/analyze.h"
#include "session/session.h"
#include "session/timeline/timeline.h"

namespace stepscope::server {

struct LoadedRun {
  session::OpenedRun recording;
  std::optional<session::Study> study;  // of all of it
  session::Timeline timeline;
  std::string info;  // as `stepscope info --json --no-timing`
  unsigned threads = 1;

  // Of a part of it; the latest few are kept. Fails where a rank or step does not exist.
  base::Result<std::shared_ptr<const session::Study>> study_of(
      const analysis::Selection& selection) const;

  mutable std::mutex text_mutex;  // one reads the texts of events at a time

 private:
  mutable std::mutex studies_mutex_;
  mutable std::vector<std::pair<std::string, std::shared_ptr<const session::Study>>> studies_;
};

enum class LoadState : std::uint8_t { kLoading, kReady, kFailed };

struct LoadReport {
  LoadState state = LoadState::kLoading;
  session::Progress progress;
  std::string error;
  std::shared_ptr<const LoadedRun> run;
};

// What to open, and the only folder from which anything may be read; empty: any.
struct RunPlace {
  std::string name;  // for clients; empty: given at the start
  std::vector<std::string> paths;
  std::string within;
  std::string version;  // differs each time something is loaded
};

// Called with what could not be read, from the thread that tried: the name for clients (empty: the
// run given at the start) and the reason.
using LoadFailed = std::function<void(const std::string& name, const std::string& error)>;

class RunLoader {
 public:
  // Begins at once. `options.progress` and `options.stop` are the loader's own.
  RunLoader(RunPlace place, session::OpenOptions options, LoadFailed failed = {});
  ~RunLoader();
  RunLoader(const RunLoader&) = delete;
  RunLoader& operator=(const RunLoader&) = delete;

  LoadReport report() const;
  const RunPlace& place() const { return place_; }

 private:
  void load();

  RunPlace place_;
  session::OpenOptions options_;
  LoadFailed failed_;
  std::atomic<bool> stop_{false};
  mutable std::mutex mutex_;
  LoadReport report_;
  std::thread thread_;
};

}  // namespace stepscope::server
