// Measuring: repeated runs, each in a child process of its own so that its peak of resident memory
// is its own, and one JSON line per result. Ratios are taken between results of one run only.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace stepscope::bench {

inline constexpr int kRuns = 7;

class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

struct Sample {
  double seconds = 0;
  std::uint64_t events = 0;
  std::uint64_t checksum = 0;     // of what was read, so that no work can be left out unseen
  std::uint64_t table_bytes = 0;  // what the loaded trace itself says it holds
  std::uint64_t peak_bytes = 0;   // resident, of the whole child
};

// Runs the body in a child. Throws std::runtime_error when the child fails.
Sample run_in_child(const std::function<Sample()>& body);

struct Result {
  std::string bench;        // "simdjson_walk"
  std::string variant;      // "fields, double"
  std::string file;         // its name without the folder
  std::uint64_t bytes = 0;  // of text, unpacked
  std::vector<Sample> samples = {};
};

double median_seconds(const std::vector<Sample>& samples);

// One line of JSON on standard output, with machine and commit.
void print_result(const Result& result);

struct Options {
  std::string path;
  int runs = kRuns;
  int threads = 1;
  std::string only;  // one variant
};

// Reads the options all benchmark programs share, runs the body, and turns exceptions into a
// message and exit status 1.
int bench_main(const char* program, int argc, char** argv, int (*body)(const Options&));

}  // namespace stepscope::bench
