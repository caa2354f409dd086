// A run as Python holds it: opened once, asked many times. No logic of its own: it keeps what the
// session gives and the view of the last selection.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "session/analyze.h"
#include "session/session.h"

namespace stepscope::python {

// What crosses into Python as an exception (see errors.py).
struct Failed {
  base::Error error;
};

template <class T>
T value_or_throw(base::Result<T> result) {
  if (!result) throw Failed{result.error()};
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

class OpenRun {
 public:
  OpenRun(session::Recording recording, unsigned threads)
      : recording_(std::move(recording)), threads_(threads) {}

  // From any thread, without Python's lock.
  Answered ask(const std::string& analysis, const std::map<std::string, std::string>& options,
               const std::vector<std::int32_t>& ranks, const std::vector<std::int64_t>& steps);
  std::string info_json() const;
  std::string report_text(const std::vector<std::int32_t>& ranks,
                          const std::vector<std::int64_t>& steps, std::size_t width, bool colour);
  std::string report_html(const std::vector<std::int32_t>& ranks,
                          const std::vector<std::int64_t>& steps);

 private:
  std::shared_ptr<const session::Study> study(const std::vector<std::int32_t>& ranks,
                                              const std::vector<std::int64_t>& steps);

  session::Recording recording_;
  unsigned threads_;
  std::mutex mutex_;  // of what follows
  analysis::Selection last_;
  std::shared_ptr<const session::Study> last_study_;
};

}  // namespace stepscope::python
