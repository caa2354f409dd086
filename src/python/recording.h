// A run as Python holds it: opened once, asked many times. No logic of its own: it keeps what the
// session gives and the view of the last selection.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "session/analyze.h"
#include "session/session.h"

namespace stepscope::python {

// What crosses into Python as an exception (see errors.py).
struct Failed : std::exception {
  explicit Failed(base::Error what_failed) : error(std::move(what_failed)) {}
  const char* what() const noexcept override { return error.message.c_str(); }
  base::Error error;
};

template <class T>
T value_or_throw(base::Result<T> result) {
  if (!result) throw Failed(result.error());
  return *std::move(result);
}

struct AnsweredTable {
  std::shared_ptr<const base::Table> table;
};

struct Answered {
  const analysis::Analysis* about = nullptr;
  analysis::Answer answer;  // its tables have moved to `tables`
  std::vector<std::shared_ptr<const base::Table>> tables;
};

// A page of the report and what it is about.
struct PageChoice {
  std::vector<std::int32_t> ranks;
  std::vector<std::int64_t> steps;
  bool memory = false;                          // the page of `stepscope memory`
  std::map<std::string, std::string> settings;  // of that page: "device-memory", "batch-size"
};

// What a run was opened with and keeps.
struct OpenedWith {
  std::vector<std::string> paths;
  std::vector<analysis::OwnPeaks> peaks;  // of devices the user knows better
  unsigned threads = 1;
};

// Findings: a table to compute with, and all their texts as JSON.
struct Advised {
  std::shared_ptr<const base::Table> table;
  std::string json;
};

// Which ranks and steps of a run; empty: all, but the warm-up.
struct Chosen {
  std::vector<std::int32_t> ranks;
  std::vector<std::int64_t> steps;
};

struct Compared {
  Answered answer;
  std::string sentence;
};

class OpenRun {
 public:
  OpenRun(session::OpenedRun recording, OpenedWith with)
      : recording_(std::move(recording)), with_(std::move(with)) {}

  // From any thread, without Python's lock.
  Answered ask(const std::string& analysis, const std::map<std::string, std::string>& options,
               const std::vector<std::int32_t>& ranks, const std::vector<std::int64_t>& steps);
  std::string info_json() const;
  // As JSON: the settings of the training's loader, and its steps in blocks of [steps, loading_ns,
  // training_ns, samples].
  std::string loader_trial();
  std::string report_text(const PageChoice& choice, std::size_t width, bool colour) const;
  std::string report_html(const PageChoice& choice) const;
  // This run is "before".
  Compared diff(const OpenRun& other, const Chosen& own, const Chosen& others) const;
  // `thresholds` is a file, or empty.
  Advised advise(const PageChoice& choice, const std::string& thresholds) const;

 private:
  std::shared_ptr<const session::Study> study(const std::vector<std::int32_t>& ranks,
                                              const std::vector<std::int64_t>& steps);

  session::OpenedRun recording_;
  OpenedWith with_;
  std::mutex mutex_;  // of what follows
  analysis::Selection last_;
  std::shared_ptr<const session::Study> last_study_;
};

// `stepscope check` over step times that Python holds.

// A list of step times in seconds per run; `rules` is a file, or empty. JSON stepscope.check/1.
std::string check_steps(const std::vector<std::vector<double>>& runs,
                        const std::vector<std::vector<double>>& baseline, const std::string& rules);

// Opening a run while Python stays responsive: another thread reads, this one looks after Ctrl-C
// and progress.

struct OpenArguments {
  std::vector<std::string> paths;
  unsigned jobs = 0;                   // 0: what this process may use
  std::uint64_t max_memory_bytes = 0;  // 0: what the machine has
  std::string steps;                   // a pattern for the names of steps
  std::string peaks;                   // a file of peaks, or empty
};

// `progress(bytes_done, bytes_total)` or None. Called with Python's lock held.
std::unique_ptr<OpenRun> open_run(const OpenArguments& arguments, const nanobind::object& progress);

// Tables and answers as Python sees them.

void bind_tables(nanobind::module_& module);

// What the scheduler of `stepscope sweep` (python/stepscope/sweep) shares with the rest of the
// program: statistics, how numbers are written, and the page of its answer.

void bind_sweeping(nanobind::module_& module);

}  // namespace stepscope::python
