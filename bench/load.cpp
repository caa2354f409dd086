// The claim: a file into finished columns and links, by the importer itself. Each run is a child
// process, so that its time includes fresh memory and its peak is its own. The file should be in
// the page cache; the importer reads it as it always does.
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "bytes/source.h"
#include "harness.h"
#include "ingest/kineto/kineto.h"

namespace stepscope::bench {
namespace {

template <class T>
T value_of(base::Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  return std::move(result).value();
}

Sample load(const Options& options) {
  const Stopwatch watch;
  ingest::ReadOptions read_options;
  read_options.threads = static_cast<unsigned>(options.threads);
  read_options.reference_only = options.only == "reference-reader";
  const trace::Trace trace =
      value_of(ingest::kineto::read(value_of(bytes::open_source(options.path)), read_options));
  Sample sample;
  sample.seconds = watch.seconds();
  sample.events = trace.entries();
  sample.table_bytes = trace.memory();
  return sample;
}

std::uint64_t text_bytes(const Options& options) {
  const std::unique_ptr<bytes::ByteSource> source = value_of(bytes::open_source(options.path));
  std::vector<char> window(std::size_t{1} << 20);
  while (value_of(source->read(window)) > 0) {
  }
  return source->text_position();
}

int run(const Options& options) {
  const std::string reader = options.only == "reference-reader" ? "reference-reader" : "fast";
  Result result;
  result.bench = "load";
  result.variant = reader + " -j" + std::to_string(options.threads);
  result.file = options.path;
  result.bytes = text_bytes(options);
  for (int i = 0; i < options.runs; ++i) {
    result.samples.push_back(run_in_child([&] { return load(options); }));
  }
  print_result(result);
  return 0;
}

}  // namespace
}  // namespace stepscope::bench

int main(int argc, char** argv) {
  return stepscope::bench::bench_main("bench_load", argc, argv, stepscope::bench::run);
}
