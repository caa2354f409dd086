// The claim: all analyses of one run together take less time than loading it. One process loads the
// file, prepares the view and asks every question with its defaults; each part is timed apart, and
// one JSON line says all of it. On one thread times are of the CPU, which other programs do not
// lengthen; on several they are of the clock, and questions are asked side by side, as a report
// asks them. Run several times by bench/analyses.py.
#include "session/analyze.h"

#include <cstdio>
#include <ctime>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/parallel.h"
#include "harness.h"
#include "session/session.h"

namespace stepscope::bench {
namespace {

template <class T>
T value_of(base::Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  return std::move(result).value();
}

class Timer {
 public:
  explicit Timer(unsigned threads) : by_cpu_(threads == 1) {}
  double seconds() const {
    return by_cpu_ ? static_cast<double>(std::clock() - start_) / CLOCKS_PER_SEC : watch_.seconds();
  }

 private:
  bool by_cpu_;
  std::clock_t start_ = std::clock();
  Stopwatch watch_;
};

struct Asked {
  const analysis::Analysis* about;
  double seconds = 0;
  std::uint64_t rows = 0;
};

int run(const Options& options) {
  const auto threads = static_cast<unsigned>(options.threads);
  session::OpenOptions open;
  open.threads = threads;
  const Timer load(threads);
  const session::OpenedRun recording = value_of(session::open({options.path}, open));
  const double load_s = load.seconds();
  const Timer prepare(threads);
  session::Study study = value_of(session::Study::prepare(recording, {}, threads));
  const double view_s = prepare.seconds();

  std::vector<Asked> list;
  for (const analysis::Analysis* about : analysis::analyses()) {
    if (!options.only.empty() && options.only != about->name) continue;
    if (analysis::why_not_answered(*about, study.view()).empty()) list.push_back({about});
  }
  study.use_threads(1);
  const Timer all(threads);
  base::parallel_for(list.size(), threads, [&](std::size_t i) {
    const Timer watch(threads);
    const analysis::Answer answer = value_of(study.ask(list[i].about->name));
    list[i].seconds = watch.seconds();
    for (const base::Table& table : answer.tables) list[i].rows += table.rows();
  });
  const double analyses_s = all.seconds();
  std::string parts;
  std::uint64_t rows = 0;
  for (const Asked& one : list) {
    parts +=
        fmt::format("{}\"{}\": {:.5f}", parts.empty() ? "" : ", ", one.about->name, one.seconds);
    rows += one.rows;
  }
  fmt::print(
      "{{\"load_s\": {:.5f}, \"view_s\": {:.5f}, \"analyses_s\": {:.5f}, \"rows\": {}, "
      "\"analyses\": {{{}}}}}\n",
      load_s, view_s, analyses_s, rows, parts);
  return 0;
}

}  // namespace
}  // namespace stepscope::bench

int main(int argc, char** argv) {
  return stepscope::bench::bench_main("bench_analyze", argc, argv, stepscope::bench::run);
}
